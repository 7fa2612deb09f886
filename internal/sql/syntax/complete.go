package syntax

import "strings"

// Complete reports whether a text ends with a whole statement, by the rules of sqlite3_complete:
// the last token is a semicolon, and in CREATE TRIGGER one behind END. It does not parse. A shell
// can use it to decide whether it has to read another line.
func Complete(sql string) bool {
	state := uint8(completeInvalid)
	for i := 0; i < len(sql) && sql[i] != 0; {
		rest := sql[i:]
		if strings.HasPrefix(rest, "/*") && !strings.Contains(rest[2:], "*/") {
			return false
		}
		n, t := completeToken(rest)
		i += n
		if n == 0 {
			return false
		}
		state = completeStates[state][t]
	}
	return state == completeStart
}

// The states of sqlite3_complete.
const (
	completeInvalid = iota // nothing but blanks
	completeStart          // behind a semicolon: complete
	completeNormal         // within a statement
	completeExplain
	completeCreate
	completeTrigger   // within CREATE TRIGGER
	completeSemicolon // within CREATE TRIGGER behind a semicolon
	completeEnd       // behind END behind a semicolon
)

// The tokens of sqlite3_complete.
const (
	completeTokSemicolon = iota
	completeTokBlank
	completeTokOther
	completeTokExplain
	completeTokCreate
	completeTokTemp
	completeTokTrigger
	completeTokEnd
)

// completeStates maps a state and a token to the next state, in the orders above.
var completeStates = [8][8]uint8{
	{1, 0, 2, 3, 4, 2, 2, 2},
	{1, 1, 2, 3, 4, 2, 2, 2},
	{1, 2, 2, 2, 2, 2, 2, 2},
	{1, 3, 3, 2, 4, 2, 2, 2},
	{1, 4, 2, 2, 2, 4, 5, 2},
	{6, 5, 5, 5, 5, 5, 5, 5},
	{6, 6, 5, 5, 5, 5, 5, 7},
	{1, 7, 5, 5, 5, 5, 5, 5},
}

// completeToken returns the length and kind of the token at the start of s, 0 if a quoted token has
// no end.
func completeToken(s string) (int, int) {
	c := s[0]
	switch c {
	case ';':
		return 1, completeTokSemicolon
	case '\v':
		return 1, completeTokOther
	case '[':
		return strings.IndexByte(s, ']') + 1, completeTokOther
	case '\'', '"', '`':
		i := strings.IndexByte(s[1:], c)
		if i < 0 {
			return 0, completeTokOther
		}
		return i + 2, completeTokOther
	}
	if c != 0xef {
		if n := blank(s); n > 0 {
			return n, completeTokBlank
		}
	}
	if !isIDByte(c) {
		return 1, completeTokOther
	}
	n := wordLength(s)
	switch keyword(s[:n]) {
	case kwExplain:
		return n, completeTokExplain
	case kwCreate:
		return n, completeTokCreate
	case kwTemp:
		return n, completeTokTemp
	case kwTrigger:
		return n, completeTokTrigger
	case kwEnd:
		return n, completeTokEnd
	}
	return n, completeTokOther
}
