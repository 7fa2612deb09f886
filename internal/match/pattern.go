// Package match finds the lines of a text that a regular expression matches.
//
// The syntax is that of Go's package regexp (RE2): time is linear in the length of a line. If every
// match must hold a literal, or one of a few, the search looks for these first (literal.go). So the
// regular expression sees few lines. For example, func (Read|Write)At requires "func ".
package match

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Options say how a pattern is meant.
type Options struct {
	IgnoreCase bool
	Fixed      bool // the patterns are strings, not regular expressions
	Word       bool // a match has no letter, digit or underscore before or after it
	Invert     bool // lines that do not match are meant
}

// A Pattern is a compiled pattern. It is safe for concurrent use.
type Pattern struct {
	re       *regexp.Regexp
	literals []literal   // every match holds one of them; none if nothing is known
	exact    bool        // and whatever holds one of them is a match
	also     [][]literal // every match holds one of each of these, too
	invert   bool        // lines that do not match are meant; there are no literals then
}

// Compile compiles patterns, of which a line matches one or more: ^ and $ are its start and end.
func Compile(patterns []string, o Options) (*Pattern, error) {
	for _, one := range patterns {
		if _, err := regexp.Compile(one); err != nil && !o.Fixed {
			return nil, err // about the pattern as the caller wrote it
		}
	}
	pattern := union(patterns, o.Fixed)
	if o.Word {
		pattern = `(?:^|\W)(?:` + pattern + `)(?:\W|$)`
	}
	if o.IgnoreCase {
		pattern = "(?i:" + pattern + ")"
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	p := &Pattern{re: re, invert: o.Invert}
	if o.Invert { // each line is given to the regular expression
		return p, nil
	}
	tree = tree.Simplify()
	p.literals, p.exact = required(tree)
	if tree.Op == syntax.OpConcat {
		p.also = requiredToo(tree.Sub)
	}
	return p, nil
}

// union returns an expression that matches if one of the patterns does.
func union(patterns []string, fixed bool) string {
	list := slices.Clone(patterns)
	for i := range list {
		if fixed {
			list[i] = regexp.QuoteMeta(list[i])
		}
		if len(list) > 1 {
			list[i] = "(?:" + list[i] + ")"
		}
	}
	return strings.Join(list, "|")
}

// each calls found for each line in text that matches, text[start:end] without its newline, until
// it returns false.
func (p *Pattern) each(text []byte, found func(start, end int) bool) {
	f := finder{p: p, text: text}
	for at := 0; at < len(text); {
		if at = f.candidate(at); at < 0 {
			return
		}
		start, end := bytes.LastIndexByte(text[:at], '\n')+1, lineEnd(text, at)
		if p.matches(text[start:end]) && !found(start, end) {
			return
		}
		at = end + 1
	}
}

// matches judges a line that holds one of the literals.
func (p *Pattern) matches(line []byte) bool {
	for _, list := range p.also {
		if !slices.ContainsFunc(list, func(l literal) bool { return l.index(line) >= 0 }) {
			return false
		}
	}
	return p.exact || p.re.Match(line) != p.invert
}

func lineEnd(text []byte, at int) int {
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(text)
}
