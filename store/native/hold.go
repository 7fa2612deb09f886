package native

import (
	"sync"

	"github.com/foliofs/folio/sqlitefile"
	"github.com/foliofs/folio/store"
)

// holds are the inodes that this Store holds. Other processes see them as holds of the database.
//
// Why nobody loses an inode that he holds: an orphan is removed by a transaction of its own (reap), which begins after the one that made it
// an orphan was published, and looks at the holds. Whoever took his hold after that look then finds, in a transaction that he begins
// with the hold in his hands, that the inode has no name, and does without.
type holds struct {
	db *sqlitefile.DB

	mu     sync.Mutex // guards inodes
	inodes map[store.Ino]hold
}

// A hold is one inode that is held.
type hold struct {
	count   int
	version uint64 // of a snapshot in which it is no orphan, unless whoever took the hold found otherwise; 0 if none is known
}

func (h *holds) init(db *sqlitefile.DB) { h.db, h.inodes = db, make(map[store.Ino]hold) }

// add holds an inode once more.
func (h *holds) add(ino store.Ino) error {
	version, _ := h.db.Version()
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.inodes[ino]
	if one.count == 0 {
		if err := h.db.Hold(int64(ino)); err != nil {
			return err
		}
	}
	h.inodes[ino] = hold{one.count + 1, version}
	return nil
}

// remove gives one hold up. It reports whether it was the last one, and the inode may be an orphan.
func (h *holds) remove(ino store.Ino) (suspect bool) {
	version, ok := h.db.Version()
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.inodes[ino]
	if one.count > 1 {
		h.inodes[ino] = hold{one.count - 1, one.version}
		return false
	}
	delete(h.inodes, ino)
	_ = h.db.Release(int64(ino)) // fails only with the file
	return !ok || version != one.version
}

// held reports whether anybody holds an inode, in this process or in another.
func (h *holds) held(ino store.Ino) (bool, error) {
	if h.mine(ino) {
		return true, nil
	}
	return h.db.Held(int64(ino))
}

// mine reports whether this Store holds an inode.
func (h *holds) mine(ino store.Ino) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.inodes[ino].count > 0
}

// Hold implements store.Store.
func (s *Store) Hold(ino store.Ino) error { return s.holds.add(ino) }

// Release implements store.Store.
func (s *Store) Release(ino store.Ino) {
	if s.holds.remove(ino) && s.isOrphan(ino) {
		s.released.Add(ino)
		s.released.Bury(s.buryReleased)
	}
}
