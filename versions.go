package folio

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/foliofs/folio/internal/inoset"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// A FileVersion is a file as one or several states of a volume have it, which follow each other.
type FileVersion struct {
	Path      string      // that it had, in the newest of these states
	Info      fs.FileInfo // Sys returns a *Node
	Snapshots []Snapshot  // that have it, the oldest first
	Current   bool        // the volume has it as it is
}

// Versions returns the versions of a file that the volume and its snapshots have, the newest first.
// It follows the inode, under whatever name. In a snapshot that lacks the inode, it goes on
// with the file with the name there, for example the one that an editor has replaced. States
// that lack the file are passed over.
//
// Neighbours of one size, mode, owner and time of modification are one version. A symbolic link at
// the end of the name is not followed. The error matches fs.ErrNotExist if no state has the file,
// and ErrIsDirectory for a directory.
func (v *Volume) Versions(ctx context.Context, name string) ([]FileVersion, error) {
	f := &versionFinder{ctx: ctx, name: name}
	err := f.find(v)
	if err == nil && len(f.found) == 0 {
		err = fs.ErrNotExist
	}
	if err != nil && isDone(err) {
		return nil, err
	}
	return f.found, pathError("versions", name, err)
}

// A versionFinder goes through the states of a volume, from the newest to the oldest.
type versionFinder struct {
	ctx   context.Context
	name  string
	ino   store.Ino // of the file in the state before; 0 if it was not found yet
	found []FileVersion
	node  store.Node // of the last version that was found
	gap   bool       // the state before did not have the file
}

func (f *versionFinder) find(v *Volume) error {
	s, err := v.snapshotter(f.ctx)
	if err != nil {
		return err
	}
	list, err := v.Snapshots(f.ctx)
	if err != nil {
		return err
	}
	if err := f.look(v.store, nil); err != nil {
		return err
	}
	for _, snapshot := range slices.Backward(list) {
		past, err := s.At(f.ctx, snapshot.Name)
		if err == nil {
			err = f.look(past, &snapshot)
			_ = past.Close()
		}
		if err != nil && !errors.Is(err, ErrNoSnapshot) { // which was removed a moment ago
			return err
		}
	}
	return nil
}

// look finds the file in one state: a snapshot, or the current state.
func (f *versionFinder) look(s store.Store, snapshot *Snapshot) error {
	rx, err := s.Begin(f.ctx)
	if err != nil {
		return err
	}
	defer rx.End()
	n, err := f.file(rx)
	switch {
	case isMissing(err), errors.Is(err, ErrNotDirectory), errors.Is(err, ErrTooManyLinks):
		f.gap = true
		return nil
	case err != nil:
		return err
	}
	if store.TypeOf(n.Mode) == store.Dir {
		return ErrIsDirectory
	}
	f.add(n, snapshot)
	return nil
}

// file returns the inode of the file, and sets its name.
func (f *versionFinder) file(rx store.Rx) (n store.Node, err error) {
	if f.ino != 0 {
		n, err = rx.Node(f.ino)
		if err == nil && n.Nlink > 0 {
			if name, ok, err := f.nameOf(rx); ok || err != nil {
				f.name = name
				return n, err
			}
		}
		if posix.IgnoreMissing(err) != nil {
			return n, err
		}
	}
	name, ino, err := resolve(rx, f.name)
	if err != nil {
		return n, err
	}
	f.name, f.ino = name, ino
	return rx.Node(ino)
}

// nameOf returns a name of the inode: the one that the file had, or the first that a walk meets.
func (f *versionFinder) nameOf(rx store.Rx) (name string, ok bool, err error) {
	if name, ino, err := resolve(rx, f.name); err == nil && ino == f.ino {
		return name, true, nil
	}
	var seen inoset.Set
	return f.search(rx, store.Root, ".", &seen)
}

// search looks for the inode in a directory, and below.
func (f *versionFinder) search(rx store.Rx, dir store.Ino, name string, seen *inoset.Set) (found string, ok bool, err error) {
	if err := f.ctx.Err(); err != nil {
		return "", false, err
	}
	if !seen.Add(uint64(dir)) {
		return "", false, nil
	}
	list, err := store.EntriesOf(rx, dir)
	if err != nil {
		return "", false, err
	}
	for _, e := range list {
		at := path.Join(name, e.Name)
		if e.Ino == f.ino {
			return at, true, nil
		}
		if e.Type == store.Dir {
			if found, ok, err = f.search(rx, e.Ino, at, seen); ok || err != nil {
				return found, ok, err
			}
		}
	}
	return "", false, nil
}

// resolve returns the inode of a name, and the name without symbolic links on its way.
func resolve(rx store.Rx, name string) (real string, ino store.Ino, err error) {
	w := newParentLookup(rx, store.Root)
	g, err := w.find(name, anySlash)
	switch {
	case err != nil:
		return "", 0, err
	case !g.there():
		return "", 0, fs.ErrNotExist
	case g.entry.Type == store.Dir: // where names may end in dots
		return name, g.entry.Ino, nil
	}
	return path.Join(path.Join(w.names...), g.name), g.entry.Ino, nil
}

// add adds the file of a state to its version.
func (f *versionFinder) add(n store.Node, snapshot *Snapshot) {
	if last := len(f.found) - 1; last < 0 || f.gap || n.Size != f.node.Size || !n.SameAttributes(&f.node) {
		f.found = append(f.found, FileVersion{Path: f.name, Info: newFileInfo(path.Base(f.name), &n)})
	}
	f.node, f.gap = n, false
	version := &f.found[len(f.found)-1]
	if snapshot == nil {
		version.Current = true
		return
	}
	version.Snapshots = slices.Insert(version.Snapshots, 0, *snapshot)
}
