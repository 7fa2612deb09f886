package sqlstore

import (
	"cmp"
	"context"
	"sync"
)

// A versionProbe gives each state of the database a version number, and tells which snapshots have
// the same one.
//
// PRAGMA data_version tells a connection only whether another connection has changed the database
// since it last asked. Numbers of two connections cannot be compared. So the probe has a connection
// of its own, which asks before and after a transaction begins on another connection. If nothing
// has changed in between, both see the same state, and the version that the probe gave it is also
// the version of the transaction. Connections that read never write. So while the number of a
// connection stays the same, the connection sees the same state, and the probe is not asked.
type versionProbe struct {
	mu   sync.Mutex // guards the fields below
	conn *conn
	last uint64 // version that was given
}

// look returns the version of the committed state. The caller must hold mu.
func (h *versionProbe) look(ctx context.Context, s *Store) (uint64, error) {
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

// next returns a version that no snapshot has. The caller must hold mu.
func (h *versionProbe) next() uint64 {
	h.last++
	return h.last
}

// snapshot begins a transaction on c and sets c.version to the version of its snapshot.
func (s *Store) snapshot(ctx context.Context, c *conn) error {
	seen, err := s.beginRead(ctx, c)
	if err != nil || seen == c.seen && c.version != 0 {
		return err
	}
	if _, err := c.exec(rollback); err != nil {
		return err
	}
	h := &s.probe
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
	return cmp.Or(err, c.look())
}

// beginRead begins a transaction and takes its snapshot by a query. It returns data_version of the
// snapshot.
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
	h := &s.probe
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := h.conn.number(selectOrphan, ino)
	return err == nil
}
