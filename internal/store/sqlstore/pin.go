package sqlstore

import (
	"errors"
	"io/fs"
	"sync"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/store"
)

// pins are the inodes that this Store has pinned because files are open.
//
// Another Store learns only whether this one has pinned any. SQL has no locks except those on
// databases, so there is a side database, an empty one named like the volume with -hold at the end.
// A Store with pins keeps a read transaction on it, which ends with its process. While there is
// one, a change of the side database cannot be committed: by that the other Stores learn of pins.
//
// Why a pinned inode is never removed: orphans are removed in a write transaction that first tries
// to change the side database. They were committed before. A Store that pins an inode after that
// must read it again, in a transaction that begins with the pin in place. There it finds that the
// inode has no name. The trial needs this Store's own read transaction out of the way for a moment.
// It happens within a write transaction, so no other Store tries in that moment.
type pins struct {
	store *Store

	mu      sync.Mutex // guards the fields below
	inodes  map[store.Ino]int
	conn    *conn // with the side database; nil before it is needed, and where it cannot be had
	alone   bool  // it cannot be had: other Stores do not learn of pins
	present bool  // the read transaction is there
}

func (h *pins) init(s *Store) { h.store, h.inodes = s, make(map[store.Ino]int) }

// Pin implements store.Store.
func (s *Store) Pin(ino store.Ino) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.pins.add(ino)
}

// Unpin implements store.Store.
func (s *Store) Unpin(ino store.Ino) {
	last := s.pins.remove(ino)
	if s.gate.Enter() != nil {
		return
	}
	defer s.gate.Leave()
	if last && s.isOrphan(int64(ino)) {
		s.released.Add(ino)
		s.released.Reap(s.reapReleased)
	}
}

func (h *pins) add(ino store.Ino) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.enter(); err != nil {
		return err
	}
	h.inodes[ino]++
	return nil
}

// remove ends one pin, and reports whether that was the last one of the inode.
func (h *pins) remove(ino store.Ino) (last bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.inodes[ino]--; h.inodes[ino] > 0 {
		return false
	}
	delete(h.inodes, ino)
	if len(h.inodes) == 0 {
		h.leave()
	}
	return true
}

func (h *pins) pinned(ino store.Ino) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.inodes[ino] > 0
}

// others reports whether another Store has pinned any inode. It must be called within a write
// transaction.
func (h *pins) others() (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leave()
	others, err := h.probe()
	if len(h.inodes) > 0 {
		err = errors.Join(err, h.enter())
	}
	return others, err
}

// probe tries to change the side database.
func (h *pins) probe() (others bool, err error) {
	if err := h.attach(); err != nil || h.alone {
		return err != nil, err
	}
	_, err = h.conn.exec(probe)
	if isBusy(err) {
		return true, nil
	}
	return err != nil, err
}

// enter begins the read transaction. A Store that tries to change the side database does so for a
// moment only.
func (h *pins) enter() error {
	if err := h.attach(); err != nil || h.alone || h.present {
		return err
	}
	err := h.store.retry(bg, func() error {
		if _, err := h.conn.exec(begin); err != nil {
			return err
		}
		_, err := h.conn.number(present)
		if err != nil {
			_, _ = h.conn.exec(rollback)
		}
		return err
	})
	h.present = err == nil
	return err
}

// leave ends the read transaction.
func (h *pins) leave() {
	if !h.present {
		return
	}
	h.present = false
	if _, err := h.conn.exec(commit); err != nil {
		h.detach()
	}
}

// attach connects to the side database, unless that was done before. Where none can be made, as in
// a directory that cannot be written to, pins are known to this Store only.
func (h *pins) attach() error {
	if h.conn != nil || h.alone {
		return nil
	}
	if h.alone = h.store.file == ""; h.alone {
		return nil // a database in memory
	}
	c, err := h.store.connect(bg)
	if err != nil {
		return explain(err)
	}
	err = h.attachTo(c)
	if err == nil {
		h.conn = c
		return nil
	}
	c.discard()
	if isBusy(err) || errors.Is(err, osfile.ErrSideFile) {
		return explain(err)
	}
	h.alone = true
	return nil
}

// attachTo makes the side database with the access that the volume has, before SQLite opens it:
// that would give it the access of any new database, and follow a link. Where the volume is no file
// of the system, as in a VFS of the driver, it is left to the driver.
func (h *pins) attachTo(c *conn) error {
	if err := osfile.PrepareSide(h.store.file, "-hold"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := c.run("ATTACH DATABASE ? AS hold", h.store.file+"-hold"); err != nil {
		return err
	}
	if err := c.run("PRAGMA hold.synchronous = OFF"); err != nil {
		return err
	}
	return h.store.retry(bg, func() error { return c.run(statements[present]) })
}

// detach closes the connection, and with it the read transaction.
func (h *pins) detach() {
	if h.conn != nil {
		h.conn.discard()
		h.conn, h.present = nil, false
	}
}

func (h *pins) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.detach()
	h.alone = true
}
