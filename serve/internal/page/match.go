package page

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Matches reports whether a name has all words of a text. Neither case nor accents count, nor
// whether a system writes an accented letter as one character or as two. The script of a listing
// filters in the same way.
func Matches(name, text string) bool {
	if text == "" {
		return true
	}
	folded := Fold(name)
	for word := range strings.FieldsSeq(Fold(text)) {
		if !strings.Contains(folded, word) {
			return false
		}
	}
	return true
}

// Fold returns a text without case and accents, to compare it with others.
func Fold(text string) string {
	ascii := true
	for i := range len(text) {
		ascii = ascii && text[i] < 0x80
	}
	if ascii {
		return strings.ToLower(text)
	}
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.M, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(text)))
}
