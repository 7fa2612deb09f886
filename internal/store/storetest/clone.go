package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/foliofs/folio/internal/store"
)

// testClones changes files that share content, through two Stores of one volume.
func testClones(t *testing.T, s store.Store, again Opener) {
	cloner := false
	update(t, s, func(tx store.Tx) error {
		_, cloner = tx.(store.Cloner)
		return nil
	})
	if !cloner {
		t.Skip("files of this store share no content")
	}
	other := again(t)
	t.Cleanup(func() { _ = other.Close() })
	testModelOf(t, true, s, other)
	m, err := loadNames(s)
	if err != nil {
		t.Fatal(err)
	}
	update(t, s, func(tx store.Tx) error { // all clones go, and their bases with them
		for _, key := range m {
			if e, err := tx.Lookup(key.Dir, key.Name); err != nil || e.Type != store.File {
				continue
			}
			if err := removeName(tx, key); err != nil {
				return err
			}
		}
		return nil
	})
	checkClean(t, s)
}

// loadNames returns the names of all files.
func loadNames(s store.Store) (keys []store.EntryKey, err error) {
	rx, err := s.Begin(context.Background())
	if err != nil {
		return nil, err
	}
	defer rx.End()
	for queue := []store.Ino{store.Root}; len(queue) > 0; queue = queue[1:] {
		var l store.Listing
		if err := rx.List(queue[0], "", 0, &l); err != nil {
			return nil, err
		}
		for _, e := range l.Entries() {
			keys = append(keys, store.EntryKey{Dir: queue[0], Name: e.Name})
			if e.Type == store.Dir {
				queue = append(queue, e.Ino)
			}
		}
	}
	return keys, nil
}

// removeName takes a name from a file.
func removeName(tx store.Tx, key store.EntryKey) error {
	e, err := tx.Lookup(key.Dir, key.Name)
	if err != nil {
		return err
	}
	n, err := tx.Node(e.Ino)
	if err != nil {
		return err
	}
	if err := tx.Unlink(key.Dir, key.Name); err != nil {
		return err
	}
	if n.Nlink > 1 {
		n.Nlink--
		return tx.Put(&n)
	}
	return tx.Orphan(&n)
}

// clone makes a file that shares the content of another one.
func (s *session) clone() error {
	from, dir, name := s.pick(s.r, store.File), s.pick(s.r, store.Dir), s.name()
	if _, ok := s.entries[dir.Ino][name]; ok || from == nil {
		return nil
	}
	n := from.Node
	n.Nlink = 1
	if err := s.tx.Insert(&n); err != nil {
		return err
	}
	if s.nodes[n.Ino] != nil || s.given[n.Ino] {
		return fmt.Errorf("inode %d was given before", n.Ino)
	}
	if err := s.tx.(store.Cloner).CloneContent(&from.Node, n.Ino); err != nil {
		return err
	}
	s.nodes[n.Ino] = &modelNode{Node: n, content: slices.Clone(from.content), xattrs: make(map[string]string)}
	return s.setEntry(dir, store.Entry{Name: name, Ino: n.Ino, Type: store.File})
}

// punch makes a part of a content zeros.
func (s *session) punch() error {
	n := s.pick(s.r, store.File)
	puncher, ok := s.tx.(store.HolePuncher)
	if n == nil || !ok {
		return nil
	}
	off := min(s.size(), n.Size)
	size := min(s.size(), n.Size-off)
	clear(n.content[off : off+size])
	if err := puncher.PunchHole(&n.Node, off, size); err != nil {
		return err
	}
	return errors.Join(s.resized(n), s.holes(n))
}

// holes compares the holes of a file with its content.
func (s *session) holes(n *modelNode) error {
	stored := int64(0)
	for at := int64(0); at < n.Size; {
		data, err := s.tx.NextData(n.Node, at)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(n.content[at:data], func(c byte) bool { return c != 0 }) {
			return fmt.Errorf("inode %d: from %d to %d is no hole", n.Ino, at, data)
		}
		if at, err = s.tx.NextHole(n.Node, data); err != nil {
			return err
		}
		stored += at - data
	}
	if stored != n.Size-n.Holes {
		return fmt.Errorf("%d bytes of data in %+v", stored, n.Node)
	}
	return nil
}
