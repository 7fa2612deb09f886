// Package quote writes names and texts such that nothing in them can move a terminal's cursor: with
// escapes, or quoted for a shell.
package quote

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable reports whether a terminal shows s as it is: valid UTF-8 without controls and invisible
// characters.
func Printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return utf8.ValidString(s) && strings.IndexFunc(s, unprintable) < 0
		}
		if s[i] < ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// Escape replaces characters that are not printable by escapes, as in Go strings.
func Escape(s string) string {
	if Printable(s) {
		return s
	}
	var b strings.Builder
	for s != "" {
		s = s[escapeRune(&b, s):]
	}
	return b.String()
}

// escapeRune writes the first character of s, as an escape if it is not printable, and returns its
// length.
func escapeRune(b *strings.Builder, s string) int {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && n == 1:
		fmt.Fprintf(b, `\x%02x`, s[0])
	case unprintable(r):
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	default:
		b.WriteRune(r)
	}
	return n
}

// shellSpecial are the characters with a meaning for a shell.
const shellSpecial = " \t\n!\"#$&'()*;<=>?[\\]^`{|}~"

// Shell writes a name as GNU ls does on a terminal: such that a shell reads it back, and the
// terminal shows it on one line. Names without anything special stay as they are.
func Shell(name string) string {
	switch {
	case name == "":
		return "''"
	case !Printable(name):
		return ansiQuote(name)
	case !strings.ContainsAny(name, shellSpecial):
		return name
	case strings.Contains(name, "'"):
		return `"` + doubleQuoted.Replace(name) + `"`
	}
	return "'" + name + "'"
}

var doubleQuoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")

// ansiQuote is the shell's $'...'.
func ansiQuote(name string) string {
	var b strings.Builder
	b.WriteString("$'")
	for name != "" {
		if name[0] == '\'' || name[0] == '\\' {
			b.WriteByte('\\')
			b.WriteByte(name[0])
			name = name[1:]
			continue
		}
		name = name[escapeRune(&b, name):]
	}
	b.WriteString("'")
	return b.String()
}
