// Package restore puts a tree of a volume back as it was when a snapshot was made.
package restore

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/foliofs/folio/internal/inode"
	"github.com/foliofs/folio/internal/inoset"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// A Report counts the names that Run has looked at. A file with several names counts several times,
// and as changed under the first of them.
type Report struct {
	Made    int64 // names that came back
	Changed int64 // names that were there, but not the file, or not as it had been
	Removed int64 // names that the snapshot does not have
	Equal   int64 // names of files that were left alone
	Bytes   int64 // of contents that were written
}

// Options say how Run works.
type Options struct {
	// Differ calls fn with the differences between the snapshot and the volume before the
	// transaction, which live reads.
	Differ func(fn func(live store.Rx, all *store.Differences) error) error
	// Progress, if it is not nil, is called after each name, with the counts so far.
	Progress func(name string, done Report)
}

// A Target is the file to restore, as the snapshot has it.
type Target struct {
	Name  string // "." for the whole volume
	Entry store.Entry
	Names []string    // of the directories that lead to it
	Dirs  []store.Ino // these directories, after the root
}

// Run makes the target what it is in the snapshot that past reads, in the transaction of c.
func Run(ctx context.Context, past store.Rx, c *inode.Change, g *Target, o *Options) (Report, error) {
	r := &restorer{ctx: ctx, past: past, c: c, Options: *o, made: make(map[store.Ino]store.Ino), links: make(map[store.Ino]int)}
	err := r.restore(g)
	if err == nil {
		err = r.finish()
	}
	return r.report, err
}

// A restorer is a call of Run. "Was" is the state in the snapshot, "is" the state in the volume.
//
// The entries of the tree are made those of the snapshot, directory by directory, and each inode is
// restored where it is met first. An inode of the snapshot becomes the one that it is if that has a
// name in the tree, whichever; then a younger one that can take its place; or a new one. Names that
// are given and taken are counted for each inode, and put into the inodes in the end: a file that
// was moved loses one name and gets one.
//
// If the whole volume is restored, the rows that were kept tell where to look. They do so after one
// pass over all names, which is too much for a part of the volume.
type restorer struct {
	ctx    context.Context
	past   store.Rx
	c      *inode.Change
	report Report
	Options

	scope *scope // nil: the tree is looked through

	names  inoset.Set              // inodes that had a name in the tree; if there is a scope, directories out of it
	placed inoset.Set              // inodes of the volume that are one of the snapshot
	made   map[store.Ino]store.Ino // by the inode of the snapshot, those that are another one
	links  map[store.Ino]int       // how many names a file has got, less those that it lost; not 0
	gone   []goneDir
	bufs   [2][]byte // for contents
}

// A goneDir is a directory that has lost its name.
type goneDir struct {
	ino  store.Ino
	path string
}

func (r *restorer) restore(g *Target) error {
	if g.Name == "." {
		if err := r.look(); err != nil {
			return err
		}
		return r.top(g.Entry)
	}
	dir, err := r.enter(g.Names, g.Dirs)
	if err != nil {
		return err
	}
	is, err := r.c.Tx.Lookup(dir, g.Name)
	if posix.IgnoreMissing(err) != nil {
		return err
	}
	name := path.Join(path.Join(g.Names...), g.Name)
	if is.Ino != 0 {
		if err := r.collectEntry(is, name); err != nil {
			return err
		}
	}
	was := g.Entry
	was.Name = g.Name
	linked, err := r.entry(dir, was, is, name)
	if err != nil || !linked {
		return err
	}
	return r.c.Touch(dir, isDir(was.Type)-isDir(is.Type))
}

// isDir returns 1 for a directory, and 0 for any other type of file.
func isDir(t store.Type) int {
	if t == store.Dir {
		return 1
	}
	return 0
}

// enter returns the directory of the volume that the names lead to. It makes those that are
// missing, as they were in the snapshot.
func (r *restorer) enter(way []string, dirs []store.Ino) (dir store.Ino, err error) {
	dir = store.Root
	for i, name := range way {
		e, err := r.c.Tx.Lookup(dir, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if e, err = r.mkdir(dir, name, dirs[i+1]); err != nil {
				return 0, err
			}
		case err != nil:
			return 0, err
		case e.Type != store.Dir:
			return 0, posix.PathError("restore", path.Join(way[:i+1]...), posix.ErrNotDirectory)
		}
		dir = e.Ino
	}
	return dir, nil
}

// mkdir makes a directory with the attributes of one of the snapshot.
func (r *restorer) mkdir(dir store.Ino, name string, like store.Ino) (e store.Entry, err error) {
	was, err := r.past.Node(like)
	if err != nil {
		return e, err
	}
	n := store.Node{Nlink: 2}
	r.setAttributes(&n, &was)
	if err := r.c.Tx.Insert(&n); err != nil {
		return e, err
	}
	if _, err = r.setXattrs(like, n.Ino); err != nil {
		return e, err
	}
	e = store.Entry{Name: name, Ino: n.Ino, Type: store.Dir}
	if err := r.c.Tx.Link(dir, e); err != nil {
		return e, err
	}
	return e, r.c.Touch(dir, 1)
}

// look finds out where to look in the whole volume. Where a history is damaged, that is everywhere.
func (r *restorer) look() error {
	err := r.Differ(func(live store.Rx, all *store.Differences) (err error) {
		r.scope, err = newScope(live, all)
		return err
	})
	if errors.Is(err, store.ErrDamaged) {
		return r.collect(store.Root, ".")
	}
	return err
}

// hadName reports whether an inode had a name in the tree.
func (r *restorer) hadName(ino store.Ino) bool {
	if r.scope != nil {
		return r.scope.named.Has(uint64(ino))
	}
	return r.names.Has(uint64(ino))
}

// collect notes the inodes with a name in a directory of the volume, or below.
func (r *restorer) collect(dir store.Ino, name string) error {
	if !r.names.Add(uint64(dir)) {
		return posix.PathError("restore", name, store.Damaged("inode %d is a directory that lies in itself, or has two names", dir))
	}
	var l store.Listing
	if err := r.c.Tx.List(dir, "", 0, &l); err != nil {
		return posix.PathError("restore", name, err)
	}
	for _, e := range l.Entries() {
		if err := r.collectEntry(e, path.Join(name, e.Name)); err != nil {
			return err
		}
	}
	return r.ctx.Err()
}

func (r *restorer) collectEntry(e store.Entry, name string) error {
	if e.Type == store.Dir {
		return r.collect(e.Ino, name)
	}
	r.names.Add(uint64(e.Ino))
	return nil
}

// note tells the Progress function of a name.
func (r *restorer) note(count *int64, name string) {
	*count++
	if r.Progress != nil {
		r.Progress(name, r.report)
	}
}
