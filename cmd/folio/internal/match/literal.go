package match

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A literal is a string that is searched for.
type literal struct {
	text []byte
	fold bool // text is in lower case, and ASCII letters in whatever case are meant
	rare int  // where its rarest byte is
}

// maxLiterals is how many are searched for at once, at most.
const maxLiterals = 8

// required returns literals of which every match of an expression holds one, or none if that cannot be told. They are exact if whatever holds one is a
// match.
func required(re *syntax.Regexp) (list []literal, exact bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return ofRunes(re.Rune, re.Flags&syntax.FoldCase != 0)
	case syntax.OpCapture:
		return required(re.Sub[0])
	case syntax.OpPlus:
		list, _ = required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			list, _ = required(re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if other, _ := required(sub); worth(other) > worth(list) {
				list = other
			}
		}
	case syntax.OpAlternate:
		return ofAll(re.Sub)
	}
	return list, false
}

// ofAll returns what is required for any of several expressions.
func ofAll(subs []*syntax.Regexp) (list []literal, exact bool) {
	exact = true
	for _, sub := range subs {
		more, isExact := required(sub)
		if list = append(list, more...); len(more) == 0 || len(list) > maxLiterals {
			return nil, false
		}
		exact = exact && isExact
	}
	return list, exact
}

// worth says how good literals are for telling lines apart: by the shortest.
func worth(list []literal) int {
	if len(list) == 0 {
		return 0
	}
	return len(slices.MinFunc(list, func(a, b literal) int { return len(a.text) - len(b.text) }).text)
}

// ofRunes returns the longest part of a literal of an expression that can be searched for byte by byte. A newline is in no line.
func ofRunes(runes []rune, fold bool) (list []literal, exact bool) {
	var longest, part strings.Builder
	exact = true
	end := func() {
		if part.Len() > longest.Len() {
			longest.Reset()
			longest.WriteString(part.String())
		}
		part.Reset()
	}
	for _, r := range runes {
		if r == utf8.RuneError || r == '\n' || fold && !foldsToByte(r) {
			exact = false
			end()
			continue
		}
		if fold {
			r = unicode.ToLower(r)
		}
		part.WriteRune(r)
	}
	if end(); longest.Len() == 0 {
		return nil, false
	}
	return []literal{newLiteral(longest.String(), fold)}, exact
}

// foldsToByte reports whether a character in whatever case is at most two bytes to search for: k and s have others beyond ASCII.
func foldsToByte(r rune) bool {
	lower := unicode.ToLower(r)
	return r < utf8.RuneSelf && lower != 'k' && lower != 's' || unicode.SimpleFold(r) == r
}

// common are bytes from the most frequent on; what is not in it is rare.
const common = " etaoinsrldcupmfhg\t.,()_\"=bvy:wx/-10j;k2{}[]*qzETSICARNOPLDMFUBHGVW"

func newLiteral(text string, fold bool) literal {
	l := literal{text: []byte(text), fold: fold}
	best := -1
	for i := range len(text) {
		rank := strings.IndexByte(common, text[i])
		if rank < 0 {
			rank = len(common)
		}
		if rank > best {
			best, l.rare = rank, i
		}
	}
	return l
}

// A finder looks for the literals of a pattern in a text, from the front to the back.
type finder struct {
	p    *Pattern
	text []byte
	next [maxLiterals]cursor
}

// candidate returns where the next line may be that matches: a place in it, at or after at, which is less than 0 if there is none.
func (f *finder) candidate(at int) int {
	if len(f.p.literals) == 0 {
		return at
	}
	best := len(f.text)
	for i := range f.p.literals {
		best = min(best, f.next[i].find(&f.p.literals[i], f.text, at))
	}
	if best == len(f.text) {
		return -1
	}
	return best
}

// A cursor remembers where a literal is found next, and of one in whatever case, where its rarest letter is.
type cursor struct {
	at    seenAt
	cases [2]seenAt
}

// A seenAt is the next place of something, at or after the place that was asked for last; the length of the text if there is none. It is kept
// until it is passed.
type seenAt struct {
	known bool
	at    int
}

func (s *seenAt) passed(at int) bool { return !s.known || s.at < at }

func (s *seenAt) set(at, found, end int) int {
	if s.known, s.at = true, at+found; found < 0 {
		s.at = end
	}
	return s.at
}

// find returns where a literal is in text, at or after at, or the length of the text.
func (c *cursor) find(l *literal, text []byte, at int) int {
	if !c.at.passed(at) {
		return c.at.at
	}
	if !l.fold {
		return c.at.set(at, bytes.Index(text[at:], l.text), len(text))
	}
	for i := at + l.rare; i < len(text); i++ {
		i = c.rarest(l.text[l.rare], text, i)
		start := i - l.rare
		if end := start + len(l.text); end <= len(text) && equalFold(text[start:end], l.text) {
			return c.at.set(start, 0, len(text))
		}
	}
	return c.at.set(at, -1, len(text))
}

// rarest returns where a byte, in whatever case, is in text, at or after at, or the length of the text.
func (c *cursor) rarest(b byte, text []byte, at int) int {
	best := len(text)
	for i, b := range [2]byte{b, upper(b)} {
		if s := &c.cases[i]; s.passed(at) {
			s.set(at, bytes.IndexByte(text[at:], b), len(text))
		}
		best = min(best, c.cases[i].at)
	}
	return best
}

func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		b -= 'a' - 'A'
	}
	return b
}

// equalFold reports whether text is lower, apart from the case of ASCII letters.
func equalFold(text, lower []byte) bool {
	for i, b := range text {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != lower[i] {
			return false
		}
	}
	return true
}
