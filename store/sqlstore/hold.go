package sqlstore

import (
	"errors"
	"io/fs"
	"sync"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/store"
)

// holds are the inodes that this Store holds.
//
// Others learn only whether it holds any. SQL has no locks but those on databases, so there is a side database, an empty one named like the
// volume with -hold at the end: whoever holds something keeps a read transaction on it, which dies with its process. Nobody
// commits a change of it meanwhile, and by that others learn it.
//
// Why nobody loses an inode that he holds: orphans are removed in a write transaction that first tries to change the side database. They were
// committed before. Whoever took his hold after that then finds, in a transaction that he begins with the hold in his hands, that the
// inode has no name, and does without. The trial needs the own read transaction to be out of the way for a moment; as it happens within a write
// transaction, nobody else tries in that moment.
type holds struct {
	store *Store

	mu      sync.Mutex // guards what follows
	inodes  map[store.Ino]int
	conn    *conn // with the side database; nil before it is needed, and where it cannot be had
	alone   bool  // it cannot be had: others do not learn of holds
	present bool  // the read transaction is there
}

func (h *holds) init(s *Store) { h.store, h.inodes = s, make(map[store.Ino]int) }

// Hold implements store.Store.
func (s *Store) Hold(ino store.Ino) error {
	if err := s.gate.enter(); err != nil {
		return err
	}
	defer s.gate.leave()
	return s.holds.add(ino)
}

// Release implements store.Store.
func (s *Store) Release(ino store.Ino) {
	last := s.holds.remove(ino)
	if s.gate.enter() != nil {
		return
	}
	defer s.gate.leave()
	if last && s.isOrphan(int64(ino)) {
		s.released.Add(ino)
		s.released.Bury(s.buryReleased)
	}
}

func (h *holds) add(ino store.Ino) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.enter(); err != nil {
		return err
	}
	h.inodes[ino]++
	return nil
}

// remove gives one hold up, and reports whether it was the last one of the inode.
func (h *holds) remove(ino store.Ino) (last bool) {
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

func (h *holds) held(ino store.Ino) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.inodes[ino] > 0
}

// others reports whether another Store holds anything. It is called within a write transaction.
func (h *holds) others() (bool, error) {
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
func (h *holds) probe() (others bool, err error) {
	if err := h.attach(); err != nil || h.alone {
		return err != nil, err
	}
	_, err = h.conn.exec(probe)
	if isBusy(err) {
		return true, nil
	}
	return err != nil, err
}

// enter begins the read transaction. Whoever tries to change the side database does so for a moment only.
func (h *holds) enter() error {
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
func (h *holds) leave() {
	if !h.present {
		return
	}
	h.present = false
	if _, err := h.conn.exec(commit); err != nil {
		h.detach()
	}
}

// attach connects to the side database, unless that was done before. Where none can be made, as in a directory that cannot be written
// to, holds are known to this Store only.
func (h *holds) attach() error {
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
func (h *holds) attachTo(c *conn) error {
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
func (h *holds) detach() {
	if h.conn != nil {
		h.conn.discard()
		h.conn, h.present = nil, false
	}
}

func (h *holds) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.detach()
	h.alone = true
}
