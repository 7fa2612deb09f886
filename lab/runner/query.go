package runner

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A query is a statement in the form that the drivers get.
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

// tokens matches one token of SQL. Each kind is a group:
//
//	1  blank or comment; SQLite lets a comment end with the text
//	2  quoted text or name, in which a doubled quote is one
//	3  beginning of a quoted text that has no end
//	4  parameter
//	5  word, or any other character
var tokens = regexp.MustCompile(`(?s)` +
	`([ \t\r\n\f]|--[^\n]*|/\*.*?(?:\*/|$))` +
	`|('(?:[^']|'')*'|"(?:[^"]|"")*"|\x60(?:[^\x60]|\x60\x60)*\x60|\[[^\]]*\])` +
	`|(['"\x60\[])` +
	`|(\?\d*|[:@$][\w$\x{80}-\x{10ffff}]+)` +
	`|([\w$\x{80}-\x{10ffff}]+|.)`)

// parseQuery checks a statement as far as it can without a database. It numbers parameters that
// have a name or a number as SQLite does, because drivers do not agree on names.
func parseQuery(sql string) (q query, err error) {
	p := parameters{numbers: make(map[string]int), used: make(map[int]bool)}
	var out strings.Builder
	first, ended := "", false
	for _, m := range tokens.FindAllStringSubmatch(sql, -1) {
		token := m[0]
		switch {
		case m[1] != "":
			token = " "
		case m[3] != "":
			return q, errUnfinished
		case token == ";":
			ended = true
			continue
		case ended:
			return q, errOne
		case m[4] != "":
			if token, err = p.number(token); err != nil {
				return q, err
			}
		case first == "":
			first = strings.ToUpper(token)
		}
		out.WriteString(token)
	}
	switch first {
	case "":
		return q, errEmpty
	case "SELECT", "WITH", "VALUES":
	default:
		return q, errReadOnly
	}
	q = query{strings.TrimSpace(out.String()), p.max}
	if q.params > len(p.used) {
		return q, fmt.Errorf("it has parameter %d, but not all before it", q.params)
	}
	return q, nil
}

// parameters are the parameters of a statement.
type parameters struct {
	max     int            // the highest number
	used    map[int]bool   // the numbers
	numbers map[string]int // by name
}

// number returns the parameter with its number in place of a name.
func (p *parameters) number(token string) (string, error) {
	n := p.max + 1
	switch {
	case token == "?":
	case token[0] == '?':
		var err error
		if n, err = strconv.Atoi(token[1:]); err != nil || n < 1 || n > 999 {
			return "", fmt.Errorf("parameter %s: numbers go from 1 to 999", token)
		}
	case p.numbers[token] > 0:
		n = p.numbers[token]
	default:
		p.numbers[token] = n
	}
	p.max, p.used[n] = max(p.max, n), true
	if token == "?" {
		return token, nil
	}
	return "?" + strconv.Itoa(n), nil
}
