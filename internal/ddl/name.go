package ddl

import "strings"

// fold returns the lower-case form of an ASCII letter and any other byte as it is.
func fold(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// EqualFold reports whether two names are the same to SQLite: equal apart from the case of ASCII
// letters.
func EqualFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if fold(a[i]) != fold(b[i]) {
			return false
		}
	}
	return true
}

// Fold returns the name with its ASCII letters in lower case: names are the same to SQLite when
// their folded forms are equal. It allocates only if something changes.
func Fold(name string) string {
	for i := range len(name) {
		if fold(name[i]) != name[i] {
			return foldAll(name)
		}
	}
	return name
}

func foldAll(name string) string {
	b := []byte(name)
	for i := range b {
		b[i] = fold(b[i])
	}
	return string(b)
}

// isQuote reports whether the byte opens a quoted name or string.
func isQuote(c byte) bool { return c == '\'' || c == '"' || c == '`' || c == '[' }

// Unquote returns the name or string that a token spells: the text itself, or the text between the
// quotes ('x', "x", `x`, [x]), where a doubled quote stands for one. Anything after the closing
// quote is dropped.
func Unquote(s string) string {
	if s == "" || !isQuote(s[0]) {
		return s
	}
	quote := s[0]
	if quote == '[' {
		quote = ']'
	}
	s = s[1:]
	if i := strings.IndexByte(s, quote); i < 0 || i == len(s)-1 {
		return strings.TrimSuffix(s, string(quote))
	}
	return undouble(s, quote)
}

// undouble copies s up to the first quote that is not doubled.
func undouble(s string, quote byte) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == quote {
			i++
			if i == len(s) || s[i] != quote {
				break
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// trimSpace removes space, as SQLite defines it, from both ends.
func trimSpace(s string) string { return strings.Trim(s, space) }

func trimSpaceRight(s string) string { return strings.TrimRight(s, space) }

const space = " \t\n\v\f\r"

// cutSuffixFold removes a suffix, given in lower case, and reports whether it was there.
func cutSuffixFold(s, suffix string) (string, bool) {
	n := len(s) - len(suffix)
	if n < 0 || !EqualFold(s[n:], suffix) {
		return s, false
	}
	return s[:n], true
}

// truthWord reports whether the name is TRUE or FALSE.
func truthWord(name string) bool { return EqualFold(name, "true") || EqualFold(name, "false") }
