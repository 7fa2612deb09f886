package page

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// humanSize returns a size as people say it: "512 B", "1.2 kB", "34 MB".
func humanSize(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " B"
	}
	value, unit := float64(n), 0
	for value >= 999.5 && unit < 6 {
		value /= 1000
		unit++
	}
	decimals := 0
	if value < 9.95 {
		decimals = 1
	}
	return strconv.FormatFloat(value, 'f', decimals, 64) + " " + " kMGTPE"[unit:unit+1] + "B"
}

// exactSize returns a size in bytes, with commas between thousands.
func exactSize(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return plural(n, "byte", "bytes", digits)
}

// plural returns a number with its noun. A text in place of the number may follow.
func plural[N int | int64](n N, one, many string, digits ...string) string {
	text := fmt.Sprint(n)
	if len(digits) > 0 {
		text = digits[0]
	}
	if n == 1 {
		return text + " " + one
	}
	return text + " " + many
}

func shortDate(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2 Jan 2006, 15:04")
}

func isoDate(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// visible returns a name without characters that do not show, or that turn the order of others
// around: they could make a name look like another one. Each is replaced by its code.
func visible(name string) string {
	if !strings.ContainsFunc(name, hidden) && utf8.ValidString(name) {
		return name
	}
	var b strings.Builder
	for len(name) > 0 {
		r, n := utf8.DecodeRuneInString(name)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, name[0])
		case hidden(r) && r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		name = name[n:]
	}
	return b.String()
}

// joiners belong to emoji and to scripts of India and Persia.
const joiners = "\u200c\u200d"

func hidden(r rune) bool {
	return !unicode.IsGraphic(r) && !strings.ContainsRune(joiners, r) || unicode.Is(unicode.Zs, r) && r != ' '
}
