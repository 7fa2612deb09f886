package sqlitefile

import (
	"context"
	"runtime"
	"sync"

	"github.com/foliofs/folio/internal/osfile"
)

// A syncer lets callers of DB.Sync that come together share one sync of the log. A call is served by a sync that began after it.
type syncer struct {
	press chan struct{} // holds one token; whoever has it syncs

	mu    sync.Mutex // guards what follows
	next  *syncBatch // which no sync has begun for; nil without callers
	crowd bool       // the batch before had several callers
}

// A syncBatch is the callers that one sync serves.
type syncBatch struct {
	callers int
	done    chan struct{} // closed when err is there
	err     error
}

func (s *syncer) init() {
	s.press = make(chan struct{}, 1)
	s.press <- struct{}{}
}

// join returns the batch that the next sync serves.
func (s *syncer) join() *syncBatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.next = &syncBatch{done: make(chan struct{})}
	}
	s.next.callers++
	return s.next
}

// begin closes the batch to further callers. It is nil if all of them are served.
func (s *syncer) begin() *syncBatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.next
	if b != nil {
		s.next, s.crowd = nil, b.callers > 1
	}
	return b
}

// company reports whether others can be expected to come.
func (s *syncer) company() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crowd
}

// Sync returns when all that was committed before the call survives the loss of power, though Options.Durability does not promise it. Calls that come
// together share their syncs. After an error nobody knows what is on disk: the database refuses all further writes until it is opened again.
func (db *DB) Sync(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b := db.syncs.join()
	for {
		select {
		case <-b.done:
			return b.err
		case <-db.syncs.press:
			if db.syncs.company() {
				runtime.Gosched() // those whose transactions were committed together with ours come along
			}
			if b := db.syncs.begin(); b != nil {
				b.err = explain(db.syncNow())
				close(b.done)
			}
			db.syncs.press <- struct{}{}
		}
	}
}

// syncNow syncs what the last commits were written to: the log or, in rollback mode, the file. What a log that began anew had
// is in the file, and synced unless durability is Off (W5).
func (db *DB) syncNow() (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if failed := db.failed.Load(); failed != nil {
		return *failed
	}
	rx, err := db.begin(context.Background())
	if err != nil {
		return err
	}
	defer rx.end()
	if db.options.ReadOnly || rx.wal != nil && rx.wal.denied != nil {
		return nil
	}
	if rx.wal == nil || db.options.Durability == Off {
		err = db.mustSync(db.file)
	}
	if err == nil && rx.wal != nil {
		err = rx.wal.syncBy(db.mustSync)
	}
	if err == nil && (rx.wal == nil || db.options.Durability == Off) { // that the journal is gone, or what else nobody has synced
		err = db.options.system.SyncDir(db.file.Name())
	}
	return err
}
