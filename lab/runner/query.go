package runner

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A query is a statement as it is given to the drivers.
type query struct {
	text   string
	params int
}

var (
	errEmpty      = errors.New("it is empty; it takes a SELECT")
	errOne        = errors.New("it takes one statement, without another behind a semicolon")
	errReadOnly   = errors.New("it takes a statement that reads: SELECT, WITH or VALUES")
	errUnfinished = errors.New("a string, a name or a comment in it has no end")
)

// parseQuery reads a statement as far as it can be judged without a database. Parameters that have a name or a number are
// numbered as SQLite does, since drivers do not agree on names.
func parseQuery(sql string) (q query, err error) {
	s := scanner{text: sql, names: make(map[string]int)}
	if err := s.scan(); err != nil {
		return q, err
	}
	switch s.first {
	case "":
		return q, errEmpty
	case "SELECT", "WITH", "VALUES":
	default:
		return q, errReadOnly
	}
	q = query{strings.TrimSpace(s.out.String()), s.max}
	if q.params > len(s.used) {
		return q, fmt.Errorf("it has parameter %d, but not all before it", q.params)
	}
	return q, nil
}

// A scanner goes through the tokens of a statement.
type scanner struct {
	text  string
	at    int
	out   strings.Builder
	first string // the first word, in capital letters
	ended bool   // by a semicolon
	max   int    // the highest number of a parameter
	used  map[int]bool
	names map[string]int
}

func (s *scanner) scan() error {
	s.used = make(map[int]bool)
	for s.at < len(s.text) {
		start := s.at
		kind, err := s.token()
		if err != nil {
			return err
		}
		token := s.text[start:s.at]
		switch {
		case kind == blank:
			s.out.WriteString(" ")
			continue
		case token == ";":
			s.ended = true
			continue
		case s.ended:
			return errOne
		case kind == parameter:
			if token, err = s.parameter(token); err != nil {
				return err
			}
		case s.first == "":
			s.first = strings.ToUpper(token)
		}
		s.out.WriteString(token)
	}
	return nil
}

// The kinds of tokens.
type tokenKind int

const (
	blank tokenKind = iota
	word
	parameter
	other
)

// token moves past the next one.
func (s *scanner) token() (tokenKind, error) {
	rest := s.text[s.at:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "--"):
		return blank, s.skip(rest, 2, "\n", len(rest))
	case strings.HasPrefix(rest, "/*"):
		return blank, s.skip(rest, 2, "*/", len(rest)) // SQLite lets a comment end with the text
	case strings.IndexByte(" \t\r\n\f", c) >= 0:
		s.at++
		return blank, nil
	case c == '\'' || c == '"' || c == '`':
		return other, s.quoted(rest, c)
	case c == '[':
		return other, s.skip(rest, 1, "]", -1)
	case c == '?':
		s.at += 1 + span(rest[1:], isDigit)
		return parameter, nil
	case (c == ':' || c == '@' || c == '$') && span(rest[1:], isName) > 0:
		s.at += 1 + span(rest[1:], isName)
		return parameter, nil
	case isName(c):
		s.at += span(rest, isName)
		return word, nil
	}
	s.at++
	return other, nil
}

// skip moves past the first end behind an opening of some bytes; where there is none, by none bytes, or not at all if that is
// below 0.
func (s *scanner) skip(rest string, opening int, end string, none int) error {
	i := strings.Index(rest[opening:], end)
	switch {
	case i >= 0:
		s.at += opening + i + len(end)
	case none < 0:
		return errUnfinished
	default:
		s.at += none
	}
	return nil
}

// quoted moves past a string, or a name, in which a doubled quote is one.
func (s *scanner) quoted(rest string, quote byte) error {
	for i := 1; i < len(rest); i++ {
		if rest[i] != quote {
			continue
		}
		if i+1 < len(rest) && rest[i+1] == quote {
			i++
			continue
		}
		s.at += i + 1
		return nil
	}
	return errUnfinished
}

// parameter numbers one.
func (s *scanner) parameter(token string) (string, error) {
	n := s.max + 1
	switch {
	case token == "?":
	case token[0] == '?':
		var err error
		if n, err = strconv.Atoi(token[1:]); err != nil || n < 1 || n > 999 {
			return "", fmt.Errorf("parameter %s: numbers go from 1 to 999", token)
		}
	case s.names[token] > 0:
		n = s.names[token]
	default:
		s.names[token] = n
	}
	s.max, s.used[n] = max(s.max, n), true
	if token == "?" {
		return token, nil
	}
	return "?" + strconv.Itoa(n), nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isName(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$' || c >= 0x80
}

// span is how many bytes at the beginning are such.
func span(s string, is func(byte) bool) int {
	n := 0
	for n < len(s) && is(s[n]) {
		n++
	}
	return n
}
