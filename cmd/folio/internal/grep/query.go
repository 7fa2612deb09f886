// Package grep searches the files of volumes concurrently, and writes in order the lines that
// package match finds.
package grep

import (
	"context"
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
