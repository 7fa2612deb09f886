package pgstore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/store"
)

// PlainAddress returns the address of the database of a volume, in which the volume's schema comes
// before all others.
func PlainAddress(volume string) string {
	a, err := parseAddress(volume)
	if err != nil {
		panic(err)
	}
	c := a.config.ConnConfig
	return "postgres://" + c.User + "@/" + c.Database + "?host=" + c.Host + "&search_path=" + string(a.schema)
}

// AdmitServer refuses a server that is too old.
var AdmitServer = admitServer

// AddMigration makes one more version of the tables until the test ends. The test must not be
// parallel to others.
func AddMigration(t *testing.T, statements ...string) (version int) {
	was := migrations
	migrations = append(was[:len(was):len(was)], append(statements, fmt.Sprintf("UPDATE @volume SET version = %d", len(was)+1)))
	t.Cleanup(func() { migrations = was })
	return latest()
}

// Beat shows once that the session lives, and removes others that do not.
func Beat(s *Store) error {
	if err := s.heartbeat(context.Background()); err != nil {
		return err
	}
	return s.maintain(context.Background())
}

// Sleep ends what shows that the session lives.
func Sleep(s *Store) { s.session.stop() }

// Sweep removes objects that nothing has needed for so long, and returns how many.
func Sweep(s *Store, after time.Duration) (int, error) {
	return s.collectGarbage(context.Background(), after)
}

// Claim sweeps all objects that no transaction has named, and returns how many.
func Claim(s *Store) (int64, error) {
	var report store.GCReport
	err := s.claim(context.Background(), 0, &report)
	return report.Unnamed, err
}

// DamageCache changes the bytes of all chunks that the Store keeps in a file.
func DamageCache(s *Store) { s.objects.cache.Damage() }

// BreakCache makes all writes to the file of chunks fail.
func BreakCache(s *Store) { s.objects.cache.Break() }

// CacheSize returns how many bytes of the bucket the Store keeps.
func CacheSize(s *Store) int64 { return s.objects.cache.Size() }

// Trips returns how many trips a transaction has made.
func Trips(r store.Rx) int {
	if t, ok := r.(*tx); ok {
		return t.trips
	}
	return r.(*rx).trips
}

// LockKeys returns the keys of the locks of a volume and of an inode.
func LockKeys(s *Store, ino store.Ino) (volume, inode int64) {
	return s.schema.lockKey(), s.schema.lockKeyOf(ino)
}

// BreakWalks makes each statement of a Store fail that reads paths. Those of glances stay.
func BreakWalks(s *Store) { s.sql[selectWalk] = brokenWalk }

const brokenWalk = "SELECT 1 / 0 FROM (SELECT $1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[]) AS walk"

// SessionNumber returns the number of the session.
func SessionNumber(s *Store) int64 { return s.session.number() }

// Forget lets the last heartbeat be long ago.
func Forget(s *Store) { s.session.wasSeen(time.Now().Add(-s.lease)) }

// NextBeat returns when a heartbeat follows one that has returned an error.
func NextBeat(s *Store, err error) time.Duration { return s.session.next(err) }

// Listen listens until that fails, and returns when the next try comes.
func Listen(s *Store) time.Duration { return listenAgain(s.listen(context.Background())) }

// Seen returns when the last heartbeat was sent.
func Seen(s *Store) time.Time {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	return s.session.seen
}
