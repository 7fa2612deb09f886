package restore

import (
	"path"
	"slices"

	"github.com/foliofs/folio/internal/diff"
	"github.com/foliofs/folio/internal/inoset"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// A scope says where a Restore of a whole volume must look. Elsewhere the volume is as it
// was: names, inodes, contents and extended attributes. It comes from the rows that were kept, so
// that it has also what other programs have changed and no time of an inode tells.
type scope struct {
	touched inoset.Set // inodes that may differ, and directories above a name of one
	named   inoset.Set // those of them that had a name in the volume
}

// has reports whether an inode of the snapshot, or anything in it, may have changed.
func (s *scope) has(ino store.Ino) bool { return s.touched.Has(uint64(ino)) }

// newScope returns the scope of the inodes that may differ between a snapshot and the volume, which
// live reads.
func newScope(live store.Rx, all *store.Differences) (*scope, error) {
	s := new(scope)
	s.named.Add(uint64(store.Root))
	tree := liveTree{State: diff.State{Rx: live, All: all}, within: map[store.Ino]bool{store.Root: true}}
	for _, ino := range s.touch(all) {
		names, err := tree.Names(ino)
		if err != nil {
			return nil, err
		}
		for _, key := range names {
			in, err := tree.has(key.Dir)
			if err != nil {
				return nil, err
			}
			if in {
				s.named.Add(uint64(ino))
			}
		}
	}
	return s, nil
}

// touch adds an inode that may differ, and the directories above the names that it has in one of
// the states.
func (s *scope) touch(all *store.Differences) (list []store.Ino) {
	for _, ino := range all.Nodes {
		s.touched.Add(uint64(ino))
	}
	list = slices.Clone(all.Nodes)
	for i := 0; i < len(list); i++ {
		for _, key := range all.Names[list[i]] {
			if s.touched.Add(uint64(key.Dir)) {
				list = append(list, key.Dir)
			}
		}
	}
	return list
}

// A liveTree knows which directories can be reached from the root of the volume.
type liveTree struct {
	diff.State
	within map[store.Ino]bool
}

func (t *liveTree) has(dir store.Ino) (bool, error) {
	var way []store.Ino
	in, known := t.within[dir]
	for !known {
		way = append(way, dir)
		t.within[dir] = false // if it lies in itself
		names, err := t.Names(dir)
		if err != nil {
			return false, err
		}
		if len(names) == 0 {
			break
		}
		dir = names[0].Dir
		in, known = t.within[dir]
	}
	for _, dir := range way {
		t.within[dir] = in
	}
	return in, nil
}

// skip counts a name, and all below it, that the scope does not have.
func (r *restorer) skip(e store.Entry, name string) error {
	if e.Type == store.Dir {
		if !r.names.Add(uint64(e.Ino)) {
			return posix.PathError("restore", name, store.Damaged("inode %d is a directory that lies in itself, or has two names", e.Ino))
		}
		list, err := store.EntriesOf(r.c.Tx, e.Ino)
		if err != nil {
			return posix.PathError("restore", name, err)
		}
		for _, e := range list {
			if err := r.skip(e, path.Join(name, e.Name)); err != nil {
				return err
			}
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
	}
	r.note(&r.report.Equal, name)
	return nil
}
