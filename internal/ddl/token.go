package ddl

import "strings"

// tokenKind holds the kinds of tokens that the grammar distinguishes. Words that the grammar never
// asks for are plain identifiers if SQLite lets them be names, else reserved. The order of the
// constants is that of Q1: isID and isName are ranges.
type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokIllegal
	tokSemi
	tokLP
	tokRP
	tokComma
	tokDot
	tokPlus
	tokMinus
	tokStar
	tokTilde
	tokEqual   // = == <> !=
	tokCompare // < <= > >=
	tokBits    // & | << >>
	tokProduct // / %
	tokConcat  // || -> ->>
	tokInteger
	tokFloat
	tokQNumber // digits with underscores between them
	tokString
	tokBlob
	tokVariable

	tokID // identifier, also every quoted one

	// Keywords that are names wherever the grammar has no use for them as keywords.
	kwAbort
	kwAction
	kwAfter
	kwAlways
	kwAsc
	kwBefore
	kwBy
	kwCascade
	kwCast
	kwConflict
	kwCurrentTime // CURRENT_DATE, CURRENT_TIME, CURRENT_TIMESTAMP
	kwDeferred
	kwDesc
	kwEnd
	kwFail
	kwFirst
	kwGenerated
	kwIf
	kwIgnore
	kwImmediate
	kwInitially
	kwInstead
	kwKey
	kwLast
	kwLike // LIKE, GLOB, REGEXP
	kwMatch
	kwNo
	kwNulls
	kwOf
	kwRaise
	kwReplace
	kwRestrict
	kwRollback
	kwTemp // TEMP, TEMPORARY
	kwTrigger
	kwView
	kwVirtual
	kwWith
	kwWithout

	// Keywords that are names, but neither types nor collations.
	kwIndexed
	kwJoin // CROSS, FULL, INNER, LEFT, NATURAL, OUTER, RIGHT

	// Keywords that are never names.
	kwAll
	kwAnd
	kwAs
	kwAutoincrement
	kwBetween
	kwCase
	kwCheck
	kwCollate
	kwConstraint
	kwCreate
	kwDefault
	kwDeferrable
	kwDelete
	kwDistinct
	kwElse
	kwEscape
	kwExists
	kwFilter // these three only where contextual says so, otherwise tokID
	kwOver
	kwWindow
	kwForeign
	kwFrom
	kwIn
	kwIndex
	kwInsert
	kwIs
	kwIsnull
	kwNot
	kwNotnull
	kwNull
	kwOn
	kwOr
	kwOrder
	kwPrimary
	kwReferences
	kwSelect
	kwSet
	kwTable
	kwThen
	kwUnique
	kwUpdate
	kwUsing
	kwValues
	kwWhen
	kwWhere
	kwReserved // every other word that is never a name
)

// isID reports whether a token of the kind stands where the grammar says id: an identifier or a
// keyword that falls back to one (Q1). A type and a collation may be a string besides.
func (k tokenKind) isID() bool { return k >= tokID && k <= kwWithout }

// isName reports whether a token of the kind stands where the grammar says name (Q1, Q2).
func (k tokenKind) isName() bool { return k >= tokID && k <= kwJoin || k == tokString }

// isContextName reports whether a token of the kind counts as a name next to FILTER, OVER and
// WINDOW.
func (k tokenKind) isContextName() bool {
	return k.isID() || k == kwJoin || k == tokString || k == kwWindow || k == kwOver
}

// startsSelect reports whether a token of the kind is the first of a SELECT.
func (k tokenKind) startsSelect() bool { return k == kwSelect || k == kwValues || k == kwWith }

// isLiteral reports whether a token of the kind is a value of its own. Strings are not among them:
// they may be names.
func (k tokenKind) isLiteral() bool {
	return k == tokInteger || k == tokFloat || k == tokQNumber || k == tokBlob || k == kwNull || k == kwCurrentTime
}

// A token is a piece of the text: sql[start:end].
type token struct {
	kind       tokenKind
	start, end int
}

// scan returns the first token at or after i, past space and comments.
func scan(sql string, i int) token {
	for i < len(sql) {
		n := blank(sql[i:])
		if n == 0 {
			kind, size := lex(sql[i:])
			return token{kind, i, i + size}
		}
		i += n
	}
	return token{tokEnd, len(sql), len(sql)}
}

// blank returns the length of the run of space, byte order mark or comment that s begins with, 0 if
// there is none. A comment without an end reaches to the end of the text.
func blank(s string) int {
	switch s[0] {
	case ' ', '\t', '\n', '\f', '\r':
		return spaces(s)
	case '-':
		if strings.HasPrefix(s, "--") {
			return upTo(s, "\n", 2)
		}
	case '/':
		if strings.HasPrefix(s, "/*") && len(s) > 2 {
			return upTo(s, "*/", 2)
		}
	case 0xef:
		if strings.HasPrefix(s, "\xef\xbb\xbf") {
			return 3
		}
	}
	return 0
}

// spaces counts the white space that s begins with. A vertical tab counts except as the first, as
// in SQLite.
func spaces(s string) int {
	n := 1
	for n < len(s) && isSpace(s[n]) {
		n++
	}
	return n
}

// upTo returns the length of s up to and including the first end at or after from.
func upTo(s, end string, from int) int {
	if i := strings.Index(s[from:], end); i >= 0 {
		return from + i + len(end)
	}
	return len(s)
}

// lex returns the kind and length of the token at the start of s, which is not empty and not blank.
func lex(s string) (tokenKind, int) {
	c := s[0]
	switch {
	case c == 'x' || c == 'X':
		if len(s) > 1 && s[1] == '\'' {
			return lexBlob(s)
		}
		return tokID, word(s)
	case isLetter(c) || c == '_' || c >= 0x80:
		n := word(s)
		return keyword(s[:n]), n
	case isDigit(c), c == '.' && len(s) > 1 && isDigit(s[1]):
		return lexNumber(s)
	}
	switch c {
	case '\'', '"', '`':
		return lexQuoted(s)
	case '[':
		if i := strings.IndexByte(s, ']'); i >= 0 {
			return tokID, i + 1
		}
		return tokIllegal, len(s)
	case '?':
		return tokVariable, len(s) - len(strings.TrimLeft(s[1:], "0123456789"))
	case '$', '@', ':', '#':
		return lexVariable(s)
	}
	return lexPunct(s)
}

// word counts the bytes of the identifier or parameter that s begins with.
func word(s string) int {
	n := 1
	for n < len(s) && isIDByte(s[n]) {
		n++
	}
	return n
}

func lexQuoted(s string) (tokenKind, int) {
	quote := s[0]
	for i := 1; i < len(s); i++ {
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
	return tokIllegal, len(s)
}

func lexBlob(s string) (tokenKind, int) {
	i := 2
	for i < len(s) && isHex(s[i]) {
		i++
	}
	if i < len(s) && s[i] == '\'' && i%2 == 0 {
		return tokBlob, i + 1
	}
	return tokIllegal, i
}

// lexVariable reads a parameter with a name, which may contain :: and end in parentheses, as Tcl
// likes it.
func lexVariable(s string) (tokenKind, int) {
	i, named := 1, false
	for i < len(s) {
		switch {
		case isIDByte(s[i]):
			named = true
			i++
		case s[i] == '(' && named:
			return lexSuffix(s, i)
		case strings.HasPrefix(s[i:], "::"):
			i += 2
		default:
			return variableIf(named), i
		}
	}
	return variableIf(named), i
}

func variableIf(ok bool) tokenKind {
	if ok {
		return tokVariable
	}
	return tokIllegal
}

// lexSuffix reads the parentheses at the end of a parameter, which start at i.
func lexSuffix(s string, i int) (tokenKind, int) {
	for i < len(s) && s[i] != ')' && !isSpace(s[i]) {
		i++
	}
	if i < len(s) && s[i] == ')' {
		return tokVariable, i + 1
	}
	return tokIllegal, i
}

// lexNumber reads a decimal or hexadecimal number. A letter that follows at once makes it illegal.
func lexNumber(s string) (tokenKind, int) {
	kind, i := tokInteger, 0
	if isHexNumber(s) {
		i = digits(s, 2, isHex)
	} else {
		i = digits(s, 0, isDigit)
		if i < len(s) && s[i] == '.' {
			kind, i = tokFloat, digits(s, i+1, isDigit)
		}
		if n := exponent(s[i:]); n > 0 {
			kind, i = tokFloat, digits(s, i+n, isDigit)
		}
	}
	if strings.IndexByte(s[:i], '_') >= 0 {
		kind = tokQNumber
	}
	if i < len(s) && isIDByte(s[i]) {
		return tokIllegal, i + word(s[i:])
	}
	return kind, i
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

// puncts lists the tokens without letters and digits, longer ones before their beginnings.
var puncts = [...]struct {
	text string
	kind tokenKind
}{
	{"(", tokLP},
	{")", tokRP},
	{",", tokComma},
	{";", tokSemi},
	{".", tokDot},
	{"->>", tokConcat},
	{"->", tokConcat},
	{"||", tokConcat},
	{"==", tokEqual},
	{"=", tokEqual},
	{"<>", tokEqual},
	{"!=", tokEqual},
	{"<=", tokCompare},
	{">=", tokCompare},
	{"<<", tokBits},
	{">>", tokBits},
	{"<", tokCompare},
	{">", tokCompare},
	{"&", tokBits},
	{"|", tokBits},
	{"+", tokPlus},
	{"-", tokMinus},
	{"*", tokStar},
	{"/", tokProduct},
	{"%", tokProduct},
	{"~", tokTilde},
}

func lexPunct(s string) (tokenKind, int) {
	for i := range puncts {
		if strings.HasPrefix(s, puncts[i].text) {
			return puncts[i].kind, len(puncts[i].text)
		}
	}
	return tokIllegal, 1
}

func isSpace(c byte) bool  { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isHex(c byte) bool    { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
func isIDByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c == '$' || c >= 0x80 }
