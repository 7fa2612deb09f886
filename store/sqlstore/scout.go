package sqlstore

import (
	"context"
	"sync"
)

// A scout finds out which snapshots are the same one.
//
// SQL tells a connection, by PRAGMA data_version, whether others changed the database since it looked last. These numbers mean nothing to another
// connection. So the scout has a connection of its own, which looks before and after a transaction begins on another one: if nothing
// happened in between, both see the same, and the version that the scout gave its state is that of the transaction, too. Connections that
// are used to read never write: as long as its number stays, a connection is where it was, and the scout is not asked.
type scout struct {
	mu   sync.Mutex // guards what follows
	conn *conn
	last uint64 // version that was given
}

// look returns the version of what is committed. It is called with mu held.
func (h *scout) look(ctx context.Context, s *Store) (uint64, error) {
	c := h.conn
	err := s.retry(ctx, func() error {
		seen, err := c.number(dataVersion)
		if err == nil && (seen != c.seen || c.version == 0) {
			c.seen, c.version = seen, h.next()
		}
		return err
	})
	return c.version, err
}

// next returns a version that no snapshot has. It is called with mu held.
func (h *scout) next() uint64 {
	h.last++
	return h.last
}

// snapshot begins a transaction on c and sets c.version to what it sees.
func (s *Store) snapshot(ctx context.Context, c *conn) error {
	seen, err := s.beginRead(ctx, c)
	if err != nil || seen == c.seen && c.version != 0 {
		return err
	}
	if _, err := c.exec(rollback); err != nil {
		return err
	}
	h := &s.scout
	h.mu.Lock()
	defer h.mu.Unlock()
	before, err := h.look(ctx, s)
	if err != nil {
		return err
	}
	if c.seen, err = s.beginRead(ctx, c); err != nil {
		return err
	}
	after, err := h.look(ctx, s)
	if c.version = before; after != before {
		c.version = h.next()
	}
	return err
}

// beginRead begins a transaction and takes its snapshot by reading something. It returns the number of what it sees.
func (s *Store) beginRead(ctx context.Context, c *conn) (seen int64, err error) {
	err = s.retry(ctx, func() error {
		if _, err := c.exec(begin); err != nil {
			return err
		}
		if seen, err = c.number(dataVersion); err != nil {
			_, _ = c.exec(rollback)
		}
		return err
	})
	return seen, err
}

// isOrphan reports whether an inode has a row in table orphan, as far as that can be told.
func (s *Store) isOrphan(ino int64) bool {
	h := &s.scout
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := h.conn.number(selectOrphan, ino)
	return err == nil
}
