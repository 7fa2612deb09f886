package function

import (
	"bytes"
	"errors"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// A Pattern says how LIKE or GLOB matches.
type Pattern struct {
	all, one rune // the wildcards for any characters, and for any one; 0 for none
	escape   rune // before a character that stands for itself; 0 for nothing
	sets     bool // [...] stands for any of its characters
	fold     bool // the case of ASCII letters does not count
}

// MaxPattern is SQLite's limit on the bytes of a pattern.
const MaxPattern = 50_000

var errPattern = errors.New("LIKE or GLOB pattern too complex")

func Like() Pattern { return Pattern{all: '%', one: '_', fold: true} }
func Glob() Pattern { return Pattern{all: '*', one: '?', sets: true} }

// Match computes text LIKE pat, or GLOB.
func (p Pattern) Match(pat, text record.Value) (record.Value, error) {
	if len(value.Text(pat)) > MaxPattern {
		return record.Value{}, errPattern
	}
	if pat.Kind() == record.Null || text.Kind() == record.Null {
		return record.Value{}, nil
	}
	return value.OfBool(p.compare(value.CString(value.Text(pat)), value.CString(value.Text(text))) == matched), nil
}

// Compile returns a function that matches texts with a pattern, faster than [Pattern.Match] if it
// consists of ASCII characters and wildcards for any characters.
func (p Pattern) Compile(pat []byte) func(text []byte) bool {
	pat = value.CString(pat)
	plain := p.escape == 0 && bytes.IndexByte(pat, byte(p.one)) < 0 && !(p.sets && bytes.IndexByte(pat, '[') >= 0)
	for _, c := range pat {
		plain = plain && c < 0x80
	}
	if !plain {
		return func(text []byte) bool { return p.compare(pat, value.CString(text)) == matched }
	}
	var parts []fragment
	for _, part := range bytes.Split(pat, []byte{byte(p.all)}) {
		parts = append(parts, newFragment(part, p.fold))
	}
	return func(text []byte) bool { return matchParts(parts, value.CString(text)) }
}

// matchParts reports whether a text consists of parts with any characters between them.
func matchParts(parts []fragment, text []byte) bool {
	first, last := &parts[0], &parts[len(parts)-1]
	if len(parts) == 1 {
		return len(text) == len(first.text) && first.begins(text)
	}
	if len(text) < len(first.text)+len(last.text) || !first.begins(text) || !last.begins(text[len(text)-len(last.text):]) {
		return false
	}
	text = text[len(first.text) : len(text)-len(last.text)]
	for i := 1; i < len(parts)-1; i++ {
		at := parts[i].index(text)
		if at < 0 {
			return false
		}
		text = text[at+len(parts[i].text):]
	}
	return true
}

// A fragment is a part of a pattern that stands for itself.
type fragment struct {
	text []byte
	fold bool // the case of its letters does not count; text is in lower case
}

func newFragment(text []byte, fold bool) fragment {
	lower, upper := bytes.ToLower(text), bytes.ToUpper(text)
	if !fold || bytes.Equal(lower, upper) {
		return fragment{text, false}
	}
	return fragment{lower, true}
}

func (f *fragment) begins(text []byte) bool {
	if !f.fold {
		return bytes.HasPrefix(text, f.text)
	}
	if len(text) < len(f.text) {
		return false
	}
	for i, c := range f.text {
		if value.Lower(text[i]) != c {
			return false
		}
	}
	return true
}

func (f *fragment) index(text []byte) int {
	if !f.fold {
		return bytes.Index(text, f.text)
	}
	for i := 0; i+len(f.text) <= len(text); i++ {
		if value.Lower(text[i]) == f.text[0] && f.begins(text[i:]) {
			return i
		}
	}
	return -1
}

// SetEscape sets the character of ESCAPE. It reports false for a text that is not one character.
func (p *Pattern) SetEscape(text []byte) (ok bool) {
	c, rest := readRune(text)
	if len(text) == 0 || len(rest) > 0 {
		return false
	}
	if p.escape = c; c == p.all {
		p.all = 0
	}
	if c == p.one {
		p.one = 0
	}
	return true
}

// A verdict is the result of a comparison.
type verdict uint8

const (
	matched verdict = iota
	unmatched
	hopeless // whatever the * before stands for
)

// readRune returns the first character of a text, 0 at its end, and the rest of the text. Malformed
// UTF-8 is read as SQLite does.
func readRune(b []byte) (rune, []byte) {
	if len(b) == 0 {
		return 0, b
	}
	c := rune(b[0])
	b = b[1:]
	if c < 0xc0 {
		return c, b
	}
	u := uint32(leads[c-0xc0])
	for len(b) > 0 && b[0]&0xc0 == 0x80 {
		u = u<<6 + uint32(b[0]&0x3f)
		b = b[1:]
	}
	if u < 0x80 || u&0xfffff800 == 0xd800 || u&0xfffffffe == 0xfffe {
		u = 0xfffd
	}
	return rune(u), b
}

// leads holds the bits of a character in its first byte, from 0xc0 on.
var leads = func() (t [64]byte) {
	for i := range t {
		switch {
		case i < 0x20:
			t[i] = byte(i)
		case i < 0x30:
			t[i] = byte(i & 0x0f)
		case i < 0x38:
			t[i] = byte(i & 0x07)
		case i < 0x3c:
			t[i] = byte(i & 0x03)
		case i < 0x3e:
			t[i] = byte(i & 0x01)
		}
	}
	return t
}()

// skipRune returns the text after its first character.
func skipRune(b []byte) []byte {
	lead := b[0]
	b = b[1:]
	for lead >= 0xc0 && len(b) > 0 && b[0]&0xc0 == 0x80 {
		b = b[1:]
	}
	return b
}

// compare compares a pattern with a text. It is patternCompare of SQLite.
func (p *Pattern) compare(pat, text []byte) verdict {
	for len(pat) > 0 {
		var c rune
		escaped := false
		switch c, pat = readRune(pat); {
		case c == p.all && c != 0:
			return p.compareAny(pat, text)
		case c == p.escape && c != 0:
			if len(pat) == 0 {
				return unmatched
			}
			c, pat = readRune(pat)
			escaped = true
		case c == '[' && p.sets:
			var ok bool
			if pat, text, ok = compareSet(pat, text); !ok {
				return unmatched
			}
			continue
		}
		var d rune
		d, text = readRune(text)
		if !p.equal(c, d) && (c != p.one || c == 0 || escaped || d == 0) {
			return unmatched
		}
	}
	if len(text) > 0 {
		return unmatched
	}
	return matched
}

// equal reports whether two characters are the same.
func (p *Pattern) equal(c, d rune) bool {
	return c == d || p.fold && c < 0x80 && d < 0x80 && value.Lower(byte(c)) == value.Lower(byte(d))
}

// compareAny compares the part of the pattern after a *.
func (p *Pattern) compareAny(pat, text []byte) verdict {
	var c rune
	before := pat
	for c, pat = readRune(pat); c == p.all || c == p.one && c != 0; c, pat = readRune(pat) {
		if c == 0 {
			break
		}
		if c == p.one {
			if len(text) == 0 {
				return hopeless
			}
			_, text = readRune(text)
		}
		before = pat
	}
	switch {
	case c == 0:
		return matched
	case c == p.escape:
		if c, pat = readRune(pat); c == 0 {
			return hopeless
		}
	case c == '[' && p.sets:
		for ; len(text) > 0; text = skipRune(text) {
			if v := p.compare(before, text); v != unmatched {
				return v
			}
		}
		return hopeless
	}
	return p.search(c, pat, text)
}

// search compares the rest of the pattern at each place of the text where the character c is.
func (p *Pattern) search(c rune, pat, text []byte) verdict {
	for {
		if c < 0x80 {
			i := bytes.IndexFunc(text, func(d rune) bool { return d < 0x80 && p.equal(c, d) })
			if i < 0 {
				return hopeless
			}
			text = text[i+1:]
		} else {
			var d rune
			for d, text = readRune(text); d != c; d, text = readRune(text) {
				if d == 0 {
					return hopeless
				}
			}
		}
		if v := p.compare(pat, text); v != unmatched {
			return v
		}
	}
}

// compareSet compares one character with the set that a pattern goes on with, behind its [.
func compareSet(pat, text []byte) (restPat, restText []byte, ok bool) {
	c, text := readRune(text)
	if c == 0 {
		return nil, nil, false
	}
	var prior rune
	seen, invert := false, false
	d, pat := readRune(pat)
	if d == '^' {
		invert = true
		d, pat = readRune(pat)
	}
	if d == ']' {
		seen = c == ']'
		d, pat = readRune(pat)
	}
	for d != 0 && d != ']' {
		if d == '-' && len(pat) > 0 && pat[0] != ']' && prior > 0 {
			d, pat = readRune(pat)
			seen = seen || c >= prior && c <= d
			prior = 0
		} else {
			seen = seen || c == d
			prior = d
		}
		d, pat = readRune(pat)
	}
	return pat, text, d != 0 && seen != invert
}
