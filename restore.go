package folio

import (
	"context"
	"errors"
	"io/fs"

	"github.com/foliofs/folio/internal/restore"
	"github.com/foliofs/folio/internal/store"
)

// RestoreOptions say how Restore works. The zero value, and nil, are good defaults.
type RestoreOptions struct {
	DryRun bool // change nothing, and report the changes
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
// made: names, contents, attributes and hard links. Files that the snapshot does not contain are
// removed from the directory. "." stands for the whole volume. The path is looked up in the
// snapshot; a symbolic link at its end is restored itself. Directories that lead to it are made if
// they are missing.
//
// All of it happens in one transaction: readers see the old tree until it is done, and if it fails
// or ctx is cancelled, nothing has changed. Restore cannot be undone by itself. A caller that may
// want that makes another snapshot first, and restores it.
//
// A file that is equal is left alone. It is if nothing of it was changed since the snapshot was
// made; otherwise its content is compared, and only differences are written. A file that still has
// a name below path, under whatever name, keeps its inode, also if that has further names
// elsewhere: they show the content of the snapshot, too. Other files come back as new inodes. So
// programs that have a file open see its content change, and keep the content of a file that is
// removed.
//
// The error matches ErrNoSnapshot, or fs.ErrNotExist if the snapshot lacks the file, or is
// one of Update. If the volume's store has no snapshots, it matches errors.ErrUnsupported.
func (v *Volume) Restore(ctx context.Context, snapshot, path string, o *RestoreOptions) (RestoreReport, error) {
	if o == nil {
		o = new(RestoreOptions)
	}
	s, past, err := v.past(ctx, snapshot)
	if err != nil {
		return RestoreReport{}, v.snapshotError("restore", snapshot, err)
	}
	defer past.Close()
	options := &restore.Options{Differ: func(fn func(live store.Rx, all *store.Differences) error) error {
		return s.Compare(ctx, snapshot, "", func(_, live store.Rx, all *store.Differences) error { return fn(live, all) })
	}}
	if o.Progress != nil {
		options.Progress = func(name string, done restore.Report) { o.Progress(name, RestoreReport(done)) }
	}
	var report restore.Report
	missing := false // the snapshot lacks the path
	err = v.store.Update(ctx, func(tx store.Tx) error {
		defer v.updates.begin()()
		was, err := past.Begin(ctx)
		if err != nil {
			return err
		}
		defer was.End() // before the commit, which waits for readers in some journal modes
		g, err := restoreTarget(was, path)
		if missing = err != nil; missing {
			return err
		}
		report, err = restore.Run(ctx, was, &v.changeIn(tx, store.Root).Change, g, options)
		if err == nil && o.DryRun {
			err = errDryRun
		}
		return err
	})
	switch {
	case err == errDryRun || err == nil:
		return RestoreReport(report), nil
	case errors.Is(err, ErrNoSnapshot):
		return RestoreReport{}, v.snapshotError("restore", snapshot, err)
	case missing:
		return RestoreReport{}, pathError("restore", v.snapshotPath(snapshot)+":"+path, err)
	case isDone(err):
		return RestoreReport{}, err
	}
	return RestoreReport{}, pathError("restore", path, err)
}

// errDryRun ends the transaction of a dry run.
var errDryRun = errors.New("dry run")

// restoreTarget looks a path up in a snapshot.
func restoreTarget(was store.Rx, path string) (*restore.Target, error) {
	w := newParentLookup(was, store.Root)
	g, err := w.find(path, anySlash)
	if err == nil && !g.there() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	t := &restore.Target{Name: g.name, Entry: g.entry, Names: w.names, Dirs: w.dirs}
	if n := len(w.names); g.entry.Ino == w.here() && n > 0 { // the path ends in "." or ".."
		t.Name, t.Names, t.Dirs = w.names[n-1], w.names[:n-1], w.dirs[:n]
	}
	return t, nil
}

// past opens the store of a snapshot for a call that changes the volume.
func (v *Volume) past(ctx context.Context, snapshot string) (s store.Snapshotter, past store.Store, err error) {
	if s, err = v.snapshotter(ctx); err == nil {
		err = v.updates.wait(ctx)
	}
	if err == nil {
		past, err = s.At(ctx, snapshot)
	}
	return s, past, err
}
