package match

import (
	"bytes"
	"io"
)

// Sizes in bytes.
const (
	bufferSize = 256 << 10
	maxLine    = 16 << 20 // a longer line is taken for several
	binarySize = 32 << 10 // a text with a NUL so near its start is none
)

// A Line is a line that matches.
type Line struct {
	Text   []byte // without its newline; valid until Search goes on
	Number int64  // from 1 on, if the Searcher counts lines
	Binary bool   // the file is not text

	// Of a Searcher that searches Around.
	Context bool // the line lies near a line that matches, and does not match itself
	First   bool // the line begins a group: it does not follow the line found before it
}

// A Searcher searches one text after the other, in little memory: as much as the longest line
// takes, and not more than maxLine. It belongs to one goroutine.
type Searcher struct {
	pattern *Pattern
	count   bool
	buf     []byte
	around  *Context
}

// NewSearcher makes a Searcher, which counts lines if it must number them.
func NewSearcher(p *Pattern, numbers bool) *Searcher {
	return &Searcher{pattern: p, count: numbers, buf: make([]byte, bufferSize)}
}

// Around lets Search find the lines around those that match, too. Of a text that is binary it finds
// only lines that match.
func (s *Searcher) Around(c Context) { s.around = &c }

// A search is on its way through a text.
type search struct {
	*Searcher
	found func(l *Line) error
	line  Line
	err   error // of found

	context *contextSearch // nil if only lines that match are wanted
}

// Search calls found for each line of r that matches, until that returns an error.
func (s *Searcher) Search(r io.ReaderAt, found func(l *Line) error) error {
	t := search{Searcher: s, found: found, line: Line{Number: 1}}
	kept, old := 0, 0 // bytes that the buffer begins with; of complete lines among them
	for off := int64(0); ; {
		n, err := r.ReadAt(t.buf[kept:], off)
		if err != nil && err != io.EOF {
			return err
		}
		text := t.buf[:kept+n]
		if off == 0 {
			t.line.Binary = bytes.IndexByte(text[:min(len(text), binarySize)], 0) >= 0
			t.context = t.newContext()
		}
		off += int64(n)
		lines := t.complete(text, old, err == io.EOF)
		if len(lines) == old && err == nil {
			kept = len(text)
			continue
		}
		old = t.each(lines, old)
		if t.err != nil || err == io.EOF {
			return t.err
		}
		kept = copy(t.buf, text[len(lines)-old:])
	}
}

// complete returns the complete lines that a full buffer begins with. If there are no more than the
// old ones, it makes the buffer larger.
func (t *search) complete(text []byte, old int, end bool) []byte {
	if end {
		return text
	}
	n := bytes.LastIndexByte(text, '\n') + 1
	switch {
	case n > old:
		return text[:n]
	case len(text)-old >= maxLine:
		return text
	}
	t.buf = append(make([]byte, 0, 2*len(t.buf)), text...)[:2*len(t.buf)]
	return text[:old]
}

// each searches complete lines, of which lines[:old] were searched before. It returns how many
// bytes at their end the next buffer must begin with.
func (t *search) each(lines []byte, old int) (kept int) {
	counted := old
	if t.context != nil {
		t.context.begin(lines, old, t.line.Number)
	}
	t.pattern.each(lines[old:], func(start, end int) bool {
		start, end = old+start, old+end
		if t.count {
			t.line.Number += int64(bytes.Count(lines[counted:start], newline))
			counted = start
		}
		if t.context != nil {
			t.err = t.context.match(start, end, t.line.Number)
		} else {
			t.line.Text = lines[start:end]
			t.err = t.found(&t.line)
		}
		return t.err == nil
	})
	if t.count && t.err == nil {
		t.line.Number += int64(bytes.Count(lines[counted:], newline))
	}
	if t.context != nil && t.err == nil {
		kept, t.err = t.context.end()
	}
	return kept
}

var newline = []byte{'\n'}
