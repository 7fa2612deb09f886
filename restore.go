package folio

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/foliofs/folio/internal/inoset"
	"github.com/foliofs/folio/internal/store"
)

// RestoreOptions say how Restore works. The zero value, and nil, are good defaults.
type RestoreOptions struct {
	DryRun bool // change nothing, and report what would be done
	// Progress, if it is not nil, is called after each name that Restore has looked at or removed,
	// with its path in the volume and with the counts so far.
	Progress func(name string, done RestoreReport)
}

// A RestoreReport counts the names that Restore has looked at. A file with several names counts
// several times, and as changed under the first of them.
type RestoreReport struct {
	Made    int64 // names that came back
	Changed int64 // names that were there, but not the file, or not as it had been
	Removed int64 // names that the snapshot does not have
	Equal   int64 // names of files that were left alone
	Bytes   int64 // of contents that were written
}

// Restore puts a file, or a directory with all that is in it, back as it was when a snapshot was
// made: names, contents, attributes and hard links. What the snapshot does not have is removed from
// the directory. "." stands for the whole volume. The path is looked up in the snapshot; a symbolic
// link at its end is restored itself. Directories that lead to it are made if they are missing.
//
// All of it happens in one transaction: readers see the old tree until it is done, and if it fails
// or ctx is cancelled, nothing has changed. Restore cannot be undone by itself. A caller that may
// want that makes another snapshot first, and restores it.
//
// A file that is equal is left alone. It is if nothing of it was changed since the snapshot was
// made; otherwise its content is compared, and only what differs is written. A file that still has
// a name below path, under whatever name, keeps its inode, also where that has further names
// elsewhere: they show the content of the snapshot, too. Other files come back as new inodes. So
// programs that have a file open see its content change, and of a file that is removed they keep
// what they have.
//
// The error matches ErrNoSnapshot, or fs.ErrNotExist if the snapshot does not have the file, or is
// one of Update. If the volume's store has no snapshots, it matches errors.ErrUnsupported.
func (v *Volume) Restore(ctx context.Context, snapshot, path string, o *RestoreOptions) (RestoreReport, error) {
	if o == nil {
		o = new(RestoreOptions)
	}
	r := &restorer{ctx: ctx, path: path, options: o, made: make(map[store.Ino]store.Ino), links: make(map[store.Ino]int)}
	s, past, err := v.past(ctx, snapshot)
	if err != nil {
		return RestoreReport{}, v.snapshotError("restore", snapshot, err)
	}
	defer past.Close()
	r.differ = func(fn func(live store.Rx, all *store.Differences) error) error {
		return s.Compare(ctx, snapshot, "", func(_, live store.Rx, all *store.Differences) error { return fn(live, all) })
	}
	err = v.store.Update(ctx, func(tx store.Tx) (err error) {
		defer v.updates.begin()()
		if r.past, err = past.Begin(ctx); err != nil {
			return err
		}
		defer r.past.End() // before the commit, which waits for readers in some journal modes
		r.c = v.changeIn(tx, store.Root)
		return r.run()
	})
	switch {
	case err == errDryRun || err == nil:
		return r.report, nil
	case errors.Is(err, ErrNoSnapshot):
		return RestoreReport{}, v.snapshotError("restore", snapshot, err)
	case r.missing:
		return RestoreReport{}, pathError("restore", v.snapshotPath(snapshot)+":"+path, err)
	case isDone(err):
		return RestoreReport{}, err
	}
	return RestoreReport{}, pathError("restore", path, err)
}

// past opens the store of a snapshot for a call that changes the volume.
func (v *Volume) past(ctx context.Context, snapshot string) (s store.Snapshotter, past store.Store, err error) {
	if s, err = v.snapshotter(); err == nil {
		err = v.updates.wait(ctx)
	}
	if err == nil {
		past, err = s.At(ctx, snapshot)
	}
	return s, past, err
}

// errDryRun ends the transaction of a dry run.
var errDryRun = errors.New("dry run")

// A restorer is a Restore. "Was" is what the snapshot has, "is" what the volume has.
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
	ctx     context.Context
	path    string
	options *RestoreOptions
	past    store.Rx
	c       *change
	report  RestoreReport
	missing bool // the snapshot does not have the path

	differ func(fn func(live store.Rx, all *store.Differences) error) error // the snapshot with the volume before the transaction
	scope  *restoreScope                                                    // nil: the tree is looked through

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

func (r *restorer) run() error {
	w := newParentLookup(r.past, store.Root)
	g, err := w.find(r.path, anySlash)
	if err == nil && !g.there() {
		err = fs.ErrNotExist
	}
	if err != nil {
		r.missing = true
		return err
	}
	way, dirs := w.names, w.dirs
	if g.entry.Ino == w.here() && len(way) > 0 { // the path ends in "." or ".."
		g.name, way, dirs = way[len(way)-1], way[:len(way)-1], dirs[:len(dirs)-1]
	}
	if err = r.restore(&g, way, dirs); err == nil {
		err = r.finish()
	}
	if err == nil && r.options.DryRun {
		err = errDryRun
	}
	return err
}

// restore restores the target that the names way and the directories dirs of the snapshot lead to.
func (r *restorer) restore(g *target, way []string, dirs []store.Ino) error {
	if g.itself() {
		if err := r.look(); err != nil {
			return err
		}
		return r.top(g.entry)
	}
	dir, err := r.enter(way, dirs)
	if err != nil {
		return err
	}
	is, err := r.c.Tx.Lookup(dir, g.name)
	if unlessMissing(err) != nil {
		return err
	}
	name := path.Join(path.Join(way...), g.name)
	if is.Ino != 0 {
		if err := r.collectEntry(is, name); err != nil {
			return err
		}
	}
	was := g.entry
	was.Name = g.name
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
		case isMissing(err):
			if e, err = r.mkdir(dir, name, dirs[i+1]); err != nil {
				return 0, err
			}
		case err != nil:
			return 0, err
		case e.Type != store.Dir:
			return 0, pathError("restore", path.Join(way[:i+1]...), ErrNotDirectory)
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
	err := r.differ(func(live store.Rx, all *store.Differences) (err error) {
		r.scope, err = newRestoreScope(live, all)
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

// collect notes the inodes that have a name in a directory of the volume, or below.
func (r *restorer) collect(dir store.Ino, name string) error {
	if !r.names.Add(uint64(dir)) {
		return pathError("restore", name, store.Damaged("inode %d is a directory that lies in itself, or has two names", dir))
	}
	var l store.Listing
	if err := r.c.Tx.List(dir, "", 0, &l); err != nil {
		return pathError("restore", name, err)
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
	if r.options.Progress != nil {
		r.options.Progress(name, r.report)
	}
}
