// Package grep searches the files of volumes concurrently, and writes in order the lines that
// package match finds.
package grep

import (
	"context"
	"errors"
	"math"
	"strconv"
	"sync/atomic"

	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/terminal"
	"github.com/foliofs/folio/internal/match"
)

// A Query is one search of contents.
type Query struct {
	*terminal.Streams
	Options     match.Options
	List, Count bool
	Numbers     bool
	Quiet       bool
	Naming      Naming // -H and -h
	Patterns    []string
	Include     listing.Globs

	Only    bool // the parts of lines that match
	Around  ContextLength
	Before  ContextLength
	After   ContextLength
	Spans   *match.Spans // nil unless Only is set
	Pattern *match.Pattern
	named   bool // lines come with the name of their file
	printed bool // output was written
	matched atomic.Bool
}

// A Naming says whether lines come with the name of their file. The last flag on the command line
// counts.
type Naming int

const (
	byCount Naming = iota // if there are several files
	Named
	Unnamed
)

// Run searches the files of all arguments. It reports whether a line matched.
func (g *Query) Run(ctx context.Context, args []string) (matched bool, err error) {
	for _, arg := range args {
		if err := g.search(ctx, location.Parse(arg), len(args) > 1); err != nil {
			return false, err
		}
	}
	return g.matched.Load(), nil
}

// search searches one file or directory. Lines get the name of their file if there may be several
// files, as with grep(1).
func (g *Query) search(ctx context.Context, loc location.Location, several bool) error {
	v, err := loc.Open()
	if err != nil {
		return err
	}
	defer v.Close()
	info, err := v.Stat(loc.Path)
	if err != nil {
		return loc.Failure(loc.Path, err)
	}
	g.named = g.Naming == Named || g.Naming == byCount && (several || info.IsDir())
	return (&search{Query: g, loc: loc}).run(ctx, v.Volume, info)
}

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

// context returns which lines are shown around matching lines. ok reports whether a flag asks for
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
