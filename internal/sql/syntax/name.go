package syntax

import "strings"

// A Span is a part of the text: sql[Start:End].
type Span struct{ Start, End int }

// A Node is a part of a tree that Walk visits: a Statement, a *Core, a *Source, a *CommonTable, a
// *Window or an *Expr.
type Node interface{ Bounds() Span }

// Bounds returns the span itself: every node has one.
func (s Span) Bounds() Span { return s }

// Of returns the part of the text that the span is.
func (s Span) Of(sql string) string { return sql[s.Start:s.End] }

// Words returns the text of the column up to the next token: comments after it are a part, as the
// names of SQLite have them.
func (c *Column) Words(sql string) string {
	end := c.End
	for end < len(sql) {
		n := blank(sql[end:])
		if n == 0 {
			break
		}
		end += n
	}
	return strings.TrimRight(sql[c.Start:end], " \t\n\v\f\r")
}

// A Name is a name as the text has it.
type Name struct {
	Span
	Text  string // without quotes
	Quote byte   // the first byte of the quoted name, one of " ' ` [, or 0
}

// IsZero reports whether there is no name: a name may be empty, as "".
func (n Name) IsZero() bool { return n.End == 0 }

// A QualifiedName is the name of a table or another object, with an optional schema.
type QualifiedName struct {
	Schema Name // may be zero
	Name   Name
}

// fold returns s with the capitals of ASCII made small. SQLite compares names so.
func fold(s string) string {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' {
			b := []byte(s)
			for j, c := range b {
				if c >= 'A' && c <= 'Z' {
					b[j] = c + 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// unquote returns the text of a quoted name or string, with doubled quotes made single.
func unquote(text string) string {
	if len(text) < 2 {
		return text
	}
	quote := text[0]
	switch quote {
	case '[':
		return text[1 : len(text)-1]
	case '\'', '"', '`':
		body := text[1 : len(text)-1]
		if strings.IndexByte(body, quote) < 0 {
			return body
		}
		q := string(quote)
		return strings.ReplaceAll(body, q+q, q)
	}
	return text
}
