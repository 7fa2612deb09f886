package native

import (
	"sync"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// pins are the inodes that this Store has pinned because files are open. Other processes see them
// as pins of the database.
//
// Why a pinned inode is never removed: reap removes orphans in a transaction of its own, which
// begins after the transaction that made them orphans is visible, and checks for pins first. A
// process that pins an inode after that check must read the inode again, in a transaction that
// begins with the pin in place. There it finds that the inode has no name, and fails with
// fs.ErrNotExist.
type pins struct {
	db *sqlitefile.DB

	mu     sync.Mutex // guards inodes
	inodes map[store.Ino]pin
}

// A pin is one pinned inode.
type pin struct {
	count   int
	version uint64 // of a snapshot in which it is no orphan, unless the call that pinned it found otherwise; 0 if none is known
}

func (h *pins) init(db *sqlitefile.DB) { h.db, h.inodes = db, make(map[store.Ino]pin) }

// add pins an inode once more.
func (h *pins) add(ino store.Ino) error {
	version, _ := h.db.Version()
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.inodes[ino]
	if one.count == 0 {
		if err := h.db.Internal(private.Key{}).Pin(int64(ino)); err != nil {
			return err
		}
	}
	h.inodes[ino] = pin{one.count + 1, version}
	return nil
}

// remove ends one pin. It reports whether that was the last one of an inode that may be an orphan.
func (h *pins) remove(ino store.Ino) (suspect bool) {
	version, ok := h.db.Version()
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.inodes[ino]
	if one.count > 1 {
		h.inodes[ino] = pin{one.count - 1, one.version}
		return false
	}
	delete(h.inodes, ino)
	_ = h.db.Internal(private.Key{}).Unpin(int64(ino)) // fails only with the file
	return !ok || version != one.version
}

// pinned reports whether an inode is pinned, in this process or in another.
func (h *pins) pinned(ino store.Ino) (bool, error) {
	if h.mine(ino) {
		return true, nil
	}
	return h.db.Internal(private.Key{}).Pinned(int64(ino))
}

// mine reports whether this Store has pinned an inode.
func (h *pins) mine(ino store.Ino) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.inodes[ino].count > 0
}

// Pin implements store.Store.
func (s *Store) Pin(ino store.Ino) error { return s.pins.add(ino) }

// Unpin implements store.Store.
func (s *Store) Unpin(ino store.Ino) {
	if s.pins.remove(ino) && s.isOrphan(ino) {
		s.released.Add(ino)
		s.released.Reap(s.reapReleased)
	}
}
