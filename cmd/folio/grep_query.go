package main

import (
	"context"
	"sync/atomic"

	"github.com/foliofs/folio/cmd/folio/internal/match"
)

// A grep is one search of contents.
type grep struct {
	*streams
	options     match.Options
	list, count bool
	numbers     bool
	quiet       bool
	naming      naming // -H and -h
	patterns    []string
	include     globs

	only    bool // the parts of lines that match
	around  contextLength
	before  contextLength
	after   contextLength
	spans   *match.Spans // nil unless only is set
	pattern *match.Pattern
	named   bool // lines come with the name of their file
	printed bool // output was written
	matched atomic.Bool
}

// A naming says whether lines come with the name of their file.
type naming int

const (
	byCount naming = iota // if there are several files
	named
	unnamed
)

// flag returns the function of a flag. The last flag on the command line counts.
func (n *naming) flag(to naming) func(string) error {
	return func(string) error {
		*n = to
		return nil
	}
}

// run searches the files of all arguments. It reports whether a line matched.
func (g *grep) run(ctx context.Context, args []string) (matched bool, err error) {
	for _, arg := range args {
		if err := g.search(ctx, locate(arg), len(args) > 1); err != nil {
			return false, err
		}
	}
	return g.matched.Load(), nil
}

// search searches the files of one argument.
func (g *grep) search(ctx context.Context, loc location, several bool) error {
	v, err := loc.open()
	if err != nil {
		return err
	}
	defer v.Close()
	info, err := v.Stat(loc.path)
	if err != nil {
		return loc.failure(loc.path, err)
	}
	g.named = g.naming == named || g.naming == byCount && (several || info.IsDir())
	return (&search{grep: g, loc: loc}).run(ctx, v, info)
}
