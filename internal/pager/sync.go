package pager

import (
	"context"
	"runtime"
	"sync"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
)

// Sync returns when all that was committed before the call survives the loss of power, though
// Options.Durability does not promise it. Calls that come together share their syncs. After an
// error the content of the disk is not known: the database refuses all further writes until it is
// opened again.
func (p *Pager) Sync(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b := p.syncs.join()
	for {
		select {
		case <-b.done:
			return b.err
		case <-p.syncs.lock:
			if p.syncs.hasCompany() {
				runtime.Gosched() // those whose transactions were committed together with ours come along
			}
			if b := p.syncs.begin(); b != nil {
				b.err = dberr.Explain(p.syncNow())
				close(b.done)
			}
			p.syncs.lock <- struct{}{}
		}
	}
}

// syncNow syncs the file that the last commits were written to: the log or, in rollback mode, the
// database. The frames of a log that restarted are in the database, and synced unless durability
// is DurabilityOff (W5).
func (p *Pager) syncNow() (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if failed := p.failure(); failed != nil {
		return failed
	}
	var rx Rx
	if err := p.Enter(context.Background(), &rx); err != nil {
		return err
	}
	defer rx.End()
	if p.options.ReadOnly || rx.wal != nil && rx.wal.Denied != nil {
		return nil
	}
	if rx.wal == nil || p.options.Durability == DurabilityOff {
		err = p.mustSync(p.file)
	}
	if err == nil && rx.wal != nil {
		err = rx.wal.SyncBy(p.mustSync)
	}
	if err == nil && (rx.wal == nil || p.options.Durability == DurabilityOff) { // the removal of the journal, and other changes that no call has synced
		err = p.options.System.SyncDir(p.file.Name())
	}
	return err
}

// A syncer lets callers of Sync that come together share one sync of the log. A call is served
// by a sync that began after it.
type syncer struct {
	lock chan struct{} // holds one token; its holder syncs

	mu    sync.Mutex // guards the fields below
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
	s.lock = make(chan struct{}, 1)
	s.lock <- struct{}{}
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

// hasCompany reports whether more callers can be expected.
func (s *syncer) hasCompany() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crowd
}
