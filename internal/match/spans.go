package match

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// Spans finds the parts of lines that match a pattern, as GNU grep -o prints them: from left to
// right without overlaps, and of several matches that begin at one place the longest. If a pattern
// has an operator that is not greedy, such as .*?, the match is the match that Go prefers. Matches
// of no bytes are left out. Spans is safe for concurrent use.
type Spans struct {
	re   *regexp.Regexp
	word *wordSpans // nil unless matches are whole words
}

// NewSpans compiles patterns that Compile accepts. It does not regard o.Invert.
func NewSpans(patterns []string, o Options) (*Spans, error) {
	pattern := "(?:" + union(patterns, o.Fixed) + ")"
	flags := ""
	if o.IgnoreCase {
		flags = "(?i)"
	}
	tree, err := syntax.Parse(flags+pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	longest := !lazy(tree)
	s := &Spans{re: mustCompile(flags+pattern, longest)}
	if o.Word {
		s.word = &wordSpans{
			any:       mustCompile(flags+`(?:^|\W)`+pattern+`(?:\W|$)`, longest),
			later:     mustCompile(flags+`\W`+pattern+`(?:\W|$)`, longest),
			first:     newWordEnds(flags+`\A`, pattern, longest),
			following: newWordEnds(flags+`\A\W`, pattern, longest),
		}
	}
	return s, nil
}

// mustCompile compiles an expression whose parts are known to compile.
func mustCompile(pattern string, longest bool) *regexp.Regexp {
	re := regexp.MustCompile(pattern)
	if longest {
		re.Longest()
	}
	return re
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
	if s.word != nil {
		return s.word.each(line, found)
	}
	s.re.ReplaceAllFunc(line, func(match []byte) []byte {
		if len(match) > 0 && err == nil {
			err = found(match)
		}
		return nil
	})
	return err
}

// A wordSpans finds matches with no word character before or after them.
//
// Expressions see the character before a match, so that ^ and \b keep their meaning in the middle
// of a line.
type wordSpans struct {
	any, later       *regexp.Regexp // the character before a match, the match, and the one after it
	first, following wordEnds       // at the start of a line, and after a character
}

// A wordEnds finds the end of the match that begins at one place: the longest that ends at the end
// of a word.
type wordEnds struct{ atEnd, before *regexp.Regexp }

func newWordEnds(start, pattern string, longest bool) wordEnds {
	return wordEnds{
		mustCompile(start+"("+pattern+")$", longest),
		mustCompile(start+"("+pattern+`)\W`, longest),
	}
}

// find returns the match in text, or -1 for its end if there is none.
func (w wordEnds) find(text []byte) (start, end int) {
	for _, re := range []*regexp.Regexp{w.atEnd, w.before} {
		if m := re.FindSubmatchIndex(text); m != nil {
			return m[2], m[3]
		}
	}
	return 0, -1
}

func (w *wordSpans) each(line []byte, found func(match []byte) error) error {
	start, end := w.next(line)
	for at := 0; end >= 0; {
		if start, end = at+start, at+end; start < end {
			if err := found(line[start:end]); err != nil {
				return err
			}
		} else if end++; end > len(line) {
			return nil
		}
		_, size := utf8.DecodeLastRune(line[:end])
		at = end - size
		start, end = w.after(line[at:])
	}
	return nil
}

// next returns the first match in a line.
func (w *wordSpans) next(line []byte) (start, end int) {
	m := w.any.FindIndex(line)
	if m == nil {
		return 0, -1
	}
	if m[0] == 0 {
		if start, end = w.first.find(line); end >= 0 {
			return start, end
		}
	}
	return w.at(line, m[0])
}

// after returns the first match in the part of a line after its first character.
func (w *wordSpans) after(text []byte) (start, end int) {
	if m := w.later.FindIndex(text); m != nil {
		return w.at(text, m[0])
	}
	return 0, -1
}

// at returns the match after the character at a place.
func (w *wordSpans) at(text []byte, place int) (start, end int) {
	start, end = w.following.find(text[place:])
	if end < 0 {
		return 0, -1
	}
	return place + start, place + end
}
