package main

import (
	"errors"
	"math"
	"strconv"

	"github.com/foliofs/folio/cmd/folio/internal/match"
)

// A contextLength is the value of a flag that says how many lines to show around a match.
type contextLength struct {
	set   bool
	lines int
}

var errContextLength = errors.New("not a number of lines")

// Set is the function of a flag. It limits a number that is too large to a number that no file
// exceeds.
func (c *contextLength) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return errContextLength
	}
	*c = contextLength{set: true, lines: int(min(n, math.MaxInt32))}
	return nil
}

// namesOnly reports whether the output consists of names, counts or nothing.
func (g *grep) namesOnly() bool { return g.list || g.count || g.quiet }

// context returns which lines are shown around those that match. ok reports whether a flag asks for
// groups of lines.
func (g *grep) context() (c match.Context, ok bool) {
	before, after := g.around, g.around
	if g.before.set {
		before = g.before
	}
	if g.after.set {
		after = g.after
	}
	return match.Context{Before: before.lines, After: after.lines}, (before.set || after.set) && !g.namesOnly()
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
	if l.Context != w.options.Invert {
		return nil
	}
	return w.spans.Each(l.Text, func(part []byte) error { return w.write(p, l, part) })
}
