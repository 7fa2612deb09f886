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
	return []literal{{[]byte(longest.String()), fold}}, exact
}

// foldsToByte reports whether a character in upper and lower case is at most two bytes to search
// for. For example, k is not: the Kelvin sign is a k, too.
func foldsToByte(r rune) bool {
	lower := unicode.ToLower(r)
	return r < utf8.RuneSelf && lower != 'k' && lower != 's' || unicode.SimpleFold(r) == r
}

// A finder looks for the literals of a pattern in a text, from the front to the back.
type finder struct {
	p     *Pattern
	text  []byte
	lower []byte // the text with ASCII letters in lower case, if a literal folds
	next  [maxLiterals]cursor
}

// A cursor remembers where a literal is next, at or after the place that was asked for last; the
// length of the text if it is nowhere.
type cursor struct {
	known bool
	at    int
}

// newFinder returns a finder for a text. It may write to buf.
func (p *Pattern) newFinder(text []byte, buf *[]byte) *finder {
	f := &finder{p: p, text: text}
	if slices.ContainsFunc(p.literals, func(l literal) bool { return l.fold }) {
		*buf = append((*buf)[:0], text...)
		f.lower = *buf
		for i, b := range f.lower {
			if 'A' <= b && b <= 'Z' {
				f.lower[i] = b + 'a' - 'A'
			}
		}
	}
	return f
}

// candidate returns where the next line may be that matches: a place in it, at or after at, which
// is less than 0 if there is none.
func (f *finder) candidate(at int) int {
	if len(f.p.literals) == 0 {
		return at
	}
	best := len(f.text)
	for i := range f.p.literals {
		c := &f.next[i]
		if !c.known || c.at < at {
			*c = cursor{true, f.index(&f.p.literals[i], at)}
		}
		best = min(best, c.at)
	}
	if best == len(f.text) {
		return -1
	}
	return best
}

// index returns where a literal is, at or after at, or the length of the text.
func (f *finder) index(l *literal, at int) int {
	text := f.text
	if l.fold {
		text = f.lower
	}
	if n := bytes.Index(text[at:], l.text); n >= 0 {
		return at + n
	}
	return len(text)
}
