package pgstore

import (
	"context"
	"hash/fnv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/foliofs/folio/internal/store"
)

// recent is the newest snapshot that this Store has read, for readers that may see a volume as it
// was a short time ago.
type recent struct {
	most time.Duration // how long ago that may be; 0 means that all readers ask the server

	mu      sync.Mutex // guards the fields below
	newest  uint64     // that a reader has seen: older snapshots do not count
	version uint64     // newest, or 0 if it was dropped
	read    time.Time  // before the snapshot was taken
	dropped time.Time  // snapshots that were taken before do not count
}

var _ store.Recaller = (*Store)(nil)

// RecentVersion implements store.Recaller.
func (s *Store) RecentVersion() (version uint64, ok bool) {
	r := &s.recent
	if r.most == 0 {
		return 0, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version, r.version != 0 && time.Since(r.read) <= r.most
}

// note notes the version of a snapshot that was taken after begun.
func (r *recent) note(version uint64, begun time.Time) {
	if r.most == 0 || version == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if version < r.newest {
		return
	}
	if version > r.newest { // even if it does not count: what is older may not be seen after it
		r.newest, r.version, r.read = version, 0, time.Time{}
	}
	if begun.After(r.dropped) && begun.After(r.read) {
		r.version, r.read = version, begun
	}
}

// drop makes the next reader ask the server: the volume was changed, by this Store or another one.
func (r *recent) drop() {
	if r.most == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version, r.dropped = 0, time.Now()
}

// lockOfListeners is the class of the advisory locks by which writers know that there are
// listeners.
const lockOfListeners = 1181707370

// listenersOf is the key of the lock of a volume.
func (schema schemaName) listenersOf() int32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(schema))
	return int32(h.Sum32())
}

// listenAlways listens, and listens again when that has failed, until ctx is done. Meanwhile a
// snapshot is used for a short time only.
func (s *Store) listenAlways(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.listen(ctx)
		s.recent.drop()
		select {
		case <-ctx.Done():
		case <-time.After(listenAgain(err)):
		}
	}
}

// listen drops the recent snapshot whenever the server says so, until the connection breaks. It has
// a connection of its own.
func (s *Store) listen(ctx context.Context) error {
	c, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig.Copy())
	if err != nil {
		return err
	}
	defer c.Close(bg)
	if _, err := c.Exec(ctx, "SELECT pg_advisory_lock_shared($1, $2)", lockOfListeners, s.schema.listenersOf()); err != nil {
		return err
	}
	if _, err := c.Exec(ctx, "LISTEN "+s.schema.quoted()); err != nil {
		return err
	}
	s.recent.drop()
	for {
		notice, err := c.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if notice.Payload != s.session.name() { // its own changes were dropped before
			s.recent.drop()
		}
	}
}
