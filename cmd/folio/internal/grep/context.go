package grep

import (
	"errors"
	"math"
	"strconv"

	"github.com/foliofs/folio/internal/match"
)

// A ContextLength is the value of a flag that says how many lines to show around a match.
type ContextLength struct {
	set   bool
	lines int
}

var errContextLength = errors.New("not a number of lines")

// Set is the function of a flag. It limits a number that is too large to a number that no file
// exceeds.
func (c *ContextLength) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return errContextLength
	}
	*c = ContextLength{set: true, lines: int(min(n, math.MaxInt32))}
	return nil
}

// NamesOnly reports whether the output consists of names, counts or nothing.
func (g *Query) NamesOnly() bool { return g.List || g.Count || g.Quiet }

// context returns which lines are shown around those that match. ok reports whether a flag asks for
// groups of lines.
func (g *Query) context() (c match.Context, ok bool) {
	before, after := g.Around, g.Around
	if g.Before.set {
		before = g.Before
	}
	if g.After.set {
		after = g.After
	}
	return match.Context{Before: before.lines, After: after.lines}, (before.set || after.set) && !g.NamesOnly()
}

// groupEnd is the line between two groups of lines.
const groupEnd = "--\n"

// separator returns the byte after the name of a file and after the number of a line.
func separator(l *match.Line) byte {
	if l.Context {
		return '-'
	}
	return ':'
}

// spansOf writes the parts of a line that match. As in GNU grep, -v makes the lines that match the
// context, and shows the matches in them.
func (w *searchWorker) spansOf(p string, l *match.Line) error {
	if l.Context != w.Options.Invert {
		return nil
	}
	return w.Spans.Each(l.Text, func(part []byte) error { return w.write(p, l, part) })
}
