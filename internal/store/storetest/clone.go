package storetest

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/foliofs/folio/internal/store"
)

// testClones changes files that share content, through two Stores of one volume.
func testClones(t *testing.T, s store.Store, again Opener) {
	cloner := false
	Update(t, s, func(tx store.Tx) error {
		_, cloner = tx.(store.Cloner)
		return nil
	})
	if !cloner {
		t.Skip("files of this store share no content")
	}
	other := again(t)
	t.Cleanup(func() { _ = other.Close() })
	m := testModel(t, true, s, other)
	Update(t, s, func(tx store.Tx) error { // all clones go, and their bases with them
		session := &session{model: m, tx: tx}
		for dir, list := range m.entries {
			for name, e := range list {
				if e.Type != store.File {
					continue
				}
				if err := session.remove(dir, name); err != nil {
					return err
				}
			}
		}
		return nil
	})
	WantClean(t, s)
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
	s.nodes[n.Ino] = &modelNode{Node: n, content: slices.Clone(from.content), xattrs: make(map[string]string), rows: maps.Clone(from.rows)}
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
	n.rows = nil // stores differ in how much they free
	return s.resized(n)
}
