package syntax

import "strings"

// A token is a piece of the text: sql[start:end].
type token struct {
	kind       kind
	start, end int
}

// scan returns the first token at or after i, past white space and comments. A NUL ends the text.
func scan(sql string, i int) token {
	for i < len(sql) && sql[i] != 0 {
		n := blank(sql[i:])
		if n == 0 {
			kind, size := lex(sql[i:])
			return token{kind, i, i + size}
		}
		i += n
	}
	return token{tokEnd, i, i}
}

// blank returns the length of the run of white space, byte order mark or comment that s begins
// with, 0 if there is none. A comment without an end reaches to the end of the text.
func blank(s string) int {
	switch s[0] {
	case ' ', '\t', '\n', '\f', '\r':
		n := 1
		for n < len(s) && isSpace(s[n]) { // a vertical tab counts, except as the first byte
			n++
		}
		return n
	case '-':
		if strings.HasPrefix(s, "--") {
			return before(s, "\n", 2)
		}
	case '/':
		if strings.HasPrefix(s, "/*") && len(s) > 2 {
			i := before(s, "*/", 2)
			if strings.HasPrefix(s[i:], "*/") {
				i += 2
			}
			return i
		}
	case 0xef:
		if strings.HasPrefix(s, "\xef\xbb\xbf") {
			return 3
		}
	}
	return 0
}

// before returns the length of s up to the first end at or after from, or up to a NUL before it.
func before(s, end string, from int) int {
	s, n := s[from:], len(s)-from
	if i := strings.Index(s, end); i >= 0 {
		n = i
	}
	if i := strings.IndexByte(s[:n], 0); i >= 0 {
		n = i
	}
	return from + n
}

// lex returns the kind and length of the token at the start of s, which is neither empty nor blank.
func lex(s string) (kind, int) {
	c := s[0]
	switch {
	case (c == 'x' || c == 'X') && len(s) > 1 && s[1] == '\'':
		return lexBlob(s)
	case isLetter(c) || c == '_' || c >= 0x80:
		n := wordLength(s)
		return keyword(s[:n]), n
	case isDigit(c), c == '.' && len(s) > 1 && isDigit(s[1]):
		return lexNumber(s)
	}
	switch c {
	case '\'', '"', '`':
		return lexQuoted(s)
	case '[':
		if i := before(s, "]", 1); i < len(s) && s[i] == ']' {
			return tokID, i + 1
		} else {
			return tokIllegal, i
		}
	case '?':
		n := 1
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		return tokVariable, n
	case '$', '@', ':', '#':
		return lexVariable(s)
	}
	return lexSymbol(s)
}

// wordLength counts the bytes of the identifier that s begins with.
func wordLength(s string) int {
	n := 1
	for n < len(s) && isIDByte(s[n]) {
		n++
	}
	return n
}

func lexQuoted(s string) (kind, int) {
	quote := s[0]
	i := 1
	for ; i < len(s) && s[i] != 0; i++ {
		if s[i] != quote {
			continue
		}
		if i+1 < len(s) && s[i+1] == quote {
			i++
			continue
		}
		if quote == '\'' {
			return tokString, i + 1
		}
		return tokID, i + 1
	}
	return tokIllegal, i
}

func lexBlob(s string) (kind, int) {
	i := 2
	for i < len(s) && isHex(s[i]) {
		i++
	}
	if i < len(s) && s[i] == '\'' && i%2 == 0 {
		return tokBlob, i + 1
	}
	if i = before(s, "'", i); i < len(s) && s[i] == '\'' {
		i++
	}
	return tokIllegal, i
}

// lexVariable reads a parameter with a name, which may contain :: and end in parentheses, as
// variables of Tcl do.
func lexVariable(s string) (kind, int) {
	i, k := 1, tokIllegal
	for i < len(s) {
		switch {
		case isIDByte(s[i]):
			k = tokVariable
			i++
		case s[i] == '(' && k == tokVariable:
			for i++; i < len(s) && s[i] != ')' && s[i] != 0 && !isSpace(s[i]); i++ {
			}
			if i < len(s) && s[i] == ')' {
				return tokVariable, i + 1
			}
			return tokIllegal, i
		case strings.HasPrefix(s[i:], "::"):
			i += 2
		default:
			return k, i
		}
	}
	return k, i
}

// lexNumber reads a decimal or hexadecimal number. A letter that follows at once makes it illegal.
func lexNumber(s string) (kind, int) {
	k, i := tokInteger, 0
	if isHexNumber(s) {
		i = digits(s, 2, isHex)
	} else {
		i = digits(s, 0, isDigit)
		if i < len(s) && s[i] == '.' {
			k, i = tokFloat, digits(s, i+1, isDigit)
		}
		if n := exponent(s[i:]); n > 0 {
			k, i = tokFloat, digits(s, i+n, isDigit)
		}
	}
	if strings.IndexByte(s[:i], '_') >= 0 {
		k = tokSeparated
	}
	if i < len(s) && isIDByte(s[i]) {
		return tokIllegal, i + wordLength(s[i:])
	}
	return k, i
}

func isHexNumber(s string) bool {
	return len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' && isHex(s[2])
}

// digits returns the index of the first byte at or after i that is neither a digit nor an
// underscore.
func digits(s string, i int, digit func(byte) bool) int {
	for i < len(s) && (digit(s[i]) || s[i] == '_') {
		i++
	}
	return i
}

// exponent returns the length of the e, the sign and the first digit of an exponent at the start of
// s, or 0.
func exponent(s string) int {
	if len(s) < 2 || s[0]|0x20 != 'e' {
		return 0
	}
	if isDigit(s[1]) {
		return 2
	}
	if len(s) > 2 && (s[1] == '+' || s[1] == '-') && isDigit(s[2]) {
		return 3
	}
	return 0
}

// symbols maps tokens of one byte to their kinds.
var symbols = [128]kind{
	'(': tokLeft, ')': tokRightParen, ',': tokComma, ';': tokSemicolon, '.': tokDot, '+': tokPlus,
	'-': tokMinus, '*': tokStar, '/': tokSlash, '%': tokPercent, '~': tokTilde, '=': tokEqual,
	'<': tokLess, '>': tokGreater, '&': tokBitAnd, '|': tokBitOr,
}

// lexSymbol reads an operator or a punctuation mark.
func lexSymbol(s string) (kind, int) {
	if len(s) > 1 {
		switch s[:2] {
		case "->":
			if len(s) > 2 && s[2] == '>' {
				return tokArrow, 3
			}
			return tokArrow, 2
		case "||":
			return tokConcat, 2
		case "==":
			return tokEqual, 2
		case "<>", "!=":
			return tokNotEqual, 2
		case "<=":
			return tokLessEqual, 2
		case ">=":
			return tokGreaterEqual, 2
		case "<<":
			return tokShiftLeft, 2
		case ">>":
			return tokShiftRight, 2
		}
	}
	if c := s[0]; c < 128 && symbols[c] != tokEnd {
		return symbols[c], 1
	}
	return tokIllegal, 1
}

func isSpace(c byte) bool  { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isHex(c byte) bool    { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
func isIDByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c == '$' || c >= 0x80 }
