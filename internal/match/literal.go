package match

import (
	"bytes"
	"math"
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
	skip *skipTable
}

// A skipTable is for Horspool's way to search, in whatever case: how far a literal can be moved on,
// by the byte that is where its last one would be. Literals longer than it can say are moved on
// less than they could.
type skipTable struct {
	by    [256]uint8 // 0 for the last byte itself
	again int        // how far from there, if the rest differs
}

// maxLiterals is how many are searched for at once, at most.
const maxLiterals = 8

// required returns literals of which every match of an expression holds one, or none if that cannot
// be told. They are exact if whatever holds one is a match.
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

// requiredToo returns the literals that each of the parts of an expression requires, if they are
// known. A single byte is not worth looking for.
func requiredToo(parts []*syntax.Regexp) (lists [][]literal) {
	for _, part := range parts {
		if list, _ := required(part); worth(list) > 1 {
			lists = append(lists, list)
		}
	}
	if len(lists) == 1 {
		return nil // these are searched for
	}
	return lists
}

// ofAll returns the literals of which any of several expressions requires one.
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

// ofRunes returns the longest part of a literal of an expression that can be searched for byte by
// byte. A newline is in no line.
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

// foldsToByte reports whether a character in upper and lower case is at most two bytes to search
// for. For example, k is not: the Kelvin sign is a k, too.
func foldsToByte(r rune) bool {
	lower := unicode.ToLower(r)
	return r < utf8.RuneSelf && lower != 'k' && lower != 's' || unicode.SimpleFold(r) == r
}

func newLiteral(text string, fold bool) literal {
	l := literal{text: []byte(text), fold: fold}
	if fold {
		l.skip = newSkipTable(l.text)
	}
	return l
}

func newSkipTable(text []byte) *skipTable {
	t, last := new(skipTable), len(text)-1
	for i := range t.by {
		t.by[i] = uint8(min(len(text), math.MaxUint8))
	}
	for i, b := range text {
		if i == last {
			t.again = int(t.by[b])
		}
		step := uint8(min(last-i, math.MaxUint8))
		t.by[b], t.by[upper(b)] = step, step
	}
	return t
}

// A finder looks for the literals of a pattern in a text, from the front to the back.
type finder struct {
	p    *Pattern
	text []byte
	next [maxLiterals]cursor
}

// candidate returns where the next line may be that matches: a place in it, at or after at, which
// is less than 0 if there is none.
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

// A cursor remembers where a literal is next, at or after the place that was asked for last; the
// length of the text if it is nowhere.
type cursor struct {
	known bool
	at    int
}

// find returns where a literal is in text, at or after at, or the length of the text.
func (c *cursor) find(l *literal, text []byte, at int) int {
	if c.known && c.at >= at {
		return c.at
	}
	c.known, c.at = true, len(text)
	if n := l.index(text[at:]); n >= 0 {
		c.at = at + n
	}
	return c.at
}

func (l *literal) index(text []byte) int {
	if !l.fold {
		return bytes.Index(text, l.text)
	}
	n, t := len(l.text), l.skip
	for i := n - 1; i < len(text); {
		step := int(t.by[text[i]])
		if step == 0 {
			if equalFold(text[i+1-n:i+1], l.text) {
				return i + 1 - n
			}
			step = t.again
		}
		i += step
	}
	return -1
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
