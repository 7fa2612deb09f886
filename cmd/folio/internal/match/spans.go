package match

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
)

// Spans finds the parts of lines that match a pattern, as GNU grep -o prints them: from left to
// right without overlaps, and of several matches that begin at one place the longest. If a pattern
// has an operator that is not greedy, such as .*?, the match is the match that Go prefers. Matches
// of no bytes are left out. Spans is safe for concurrent use.
type Spans struct{ re *regexp.Regexp }

// ErrSpansWord says that Options.Word does not go with Spans.
var ErrSpansWord = errors.New("whole words are for lines, and not for the parts of lines that match")

// NewSpans compiles patterns that Compile accepts. It does not regard o.Invert.
func NewSpans(patterns []string, o Options) (*Spans, error) {
	pattern := union(patterns, o.Fixed)
	if o.IgnoreCase {
		pattern = "(?i:" + pattern + ")"
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if o.Word {
		return nil, ErrSpansWord
	}
	s := &Spans{regexp.MustCompile(pattern)}
	if !lazy(tree) {
		s.re.Longest()
	}
	return s, nil
}

// lazy reports whether an operator of an expression is not greedy.
func lazy(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		if re.Flags&syntax.NonGreedy != 0 {
			return true
		}
	}
	return slices.ContainsFunc(re.Sub, lazy)
}

// Each calls found for each match in a line, until found returns an error, and returns that error.
// A match is a part of line.
func (s *Spans) Each(line []byte, found func(match []byte) error) (err error) {
	s.re.ReplaceAllFunc(line, func(match []byte) []byte {
		if len(match) > 0 && err == nil {
			err = found(match)
		}
		return nil
	})
	return err
}
