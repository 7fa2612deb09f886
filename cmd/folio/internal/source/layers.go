package source

import (
	"context"
	"hash/maphash"
)

// A layers is the tree that AgentFS shows of an overlay: what the database has, and of the
// directory below it whatever the database neither has nor has removed. A directory that both have
// is that of the database, with the files of both.
//
// The database comes first. So the directories that files of the base lie in are there already, or
// are in the base.
type layers struct {
	o     *Options
	fn    func(*Entry) error
	upper map[pathSum]bool // paths in the database, true for directories
	seeds [2]maphash.Seed
	gone  map[string]bool // paths that were removed from the base
	bytes int64           // of contents in the database
}

// A pathSum stands for a path, which may be longer than all of its row in a database. Its 128 bits
// come from random seeds: no two paths meet.
type pathSum [2]uint64

func newLayers(o *Options, fn func(*Entry) error) *layers {
	return &layers{o: o, fn: fn, upper: make(map[pathSum]bool), seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

func (l *layers) sum(path string) pathSum {
	return pathSum{maphash.String(l.seeds[0], path), maphash.String(l.seeds[1], path)}
}

// add passes on an entry of the database.
func (l *layers) add(e *Entry) error {
	l.upper[l.sum(e.Name)] = e.Mode.IsDir()
	l.bytes += e.Size
	return l.fn(e)
}

// hides reports whether a file of the base, and all that is in it, is not seen.
func (l *layers) hides(name string, isDir bool) bool {
	upperDir, ok := l.upper[l.sum(name)]
	return l.gone[name] || ok && (!upperDir || !isDir)
}

// walkBase passes on what is seen of the base.
func (l *layers) walkBase(ctx context.Context) error {
	if l.hides(".", true) {
		return nil
	}
	o := *l.o
	o.hide = l.hides
	if o.MaxSize > 0 {
		o.MaxSize = max(1, o.MaxSize-l.bytes)
	}
	base, err := OpenDir(l.o.Base, &o)
	if err != nil {
		return err
	}
	defer base.Close()
	return base.Walk(ctx, func(e *Entry) error {
		if l.upper[l.sum(e.Name)] {
			return nil // a directory of both
		}
		return l.fn(e)
	})
}
