package pager

import (
	"errors"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/wal"
)

// errImmutable is why nothing is written to an immutable database.
var errImmutable = errors.New("it was opened as immutable")

// renewLog opens a log again that is read without the right to write, if it is not as it was. The
// caller holds mu.
func (r *readers) renewLog() error {
	w := r.pager.wal
	if w.Access == wal.AccessShared || !w.Lost && w.Undisturbed() {
		return nil
	}
	if s := r.pager.snapshot.Load(); s != nil && s.wal != nil {
		s.lease.Retire()
	}
	next, err := wal.OpenReadOnly(r.pager.options.System, r.pager.file, w.PageSize, r.pager.options.NoMmap, r.pager.options.Immutable, w.Denied)
	if err != nil {
		return err
	}
	next.Failed, next.Recovered = w.Failed, w.Recovered
	r.pager.wal = next
	r.outgrown = append(r.outgrown, w)
	return r.closeOutgrown()
}

// closeOutgrown closes the logs that were opened again and have no readers any more.
func (r *readers) closeOutgrown() (err error) {
	kept := r.outgrown[:0]
	for _, w := range r.outgrown {
		if w.Index.Idle() {
			err = dberr.Join(err, w.Close())
		} else {
			kept = append(kept, w)
		}
	}
	r.outgrown = kept
	return err
}
