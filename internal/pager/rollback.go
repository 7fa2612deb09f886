package pager

import (
	"context"
	"fmt"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/journal"
	"github.com/foliofs/folio/internal/wal"
)

// rollback commits in rollback mode. It belongs to the holder of the write lock.
type rollback struct {
	*core
	locks   *fileLocks
	readers *readers
}

// openJournal opens the journal of a transaction on base, and makes it if need be.
func (r *rollback) openJournal(base *Snapshot) (*journal.Journal, error) {
	if err := r.inPlace(r.file); err != nil {
		return nil, err // it would be the journal of another database
	}
	return r.readers.recovery.journal.Create(r.readers.committed == base.Version)
}

// commitFile commits a batch in rollback mode: it writes the whole batch to the file, or leaves the
// file as it was, also if all of ctxs are cancelled while readers are in the way. The caller must
// hold RESERVED, and holds EXCLUSIVE afterwards. If the transaction has spilled, j is its journal,
// else nil.
func (r *rollback) commitFile(j *journal.Journal, base *Snapshot, batch []wal.Page, size uint32, ctxs ...context.Context) (err error) {
	if j == nil {
		if j, err = r.openJournal(base); r.lend(err) {
			j, err = r.openJournal(base)
		}
		if err != nil {
			return err
		}
	}
	if err = r.saveOriginals(j, base, batch, size); err == nil {
		err = r.awaitExclusive(base, ctxs...)
	}
	if err == nil {
		j.Hot = true
		err = r.overwrite(base, batch, size)
	}
	switch {
	case err == nil:
		err = r.conclude(j)
	case j.Hot:
		err = dberr.Join(err, r.undo(j))
	default:
		err = dberr.Join(err, j.Discard())
	}
	return err
}

// conclude finishes the journal of a batch that is in the file: the commit point (P5).
func (r *rollback) conclude(j *journal.Journal) error {
	err := r.finish(j)
	_ = j.Close() // all that it had to keep is on disk, or of no use any more
	if err != nil {
		return err
	}
	if r.reserve.Lent() {
		r.returnReserve()
	}
	return r.stillInPlace(r.file)
}

func (r *rollback) finish(j *journal.Journal) error {
	switch r.options.JournalMode {
	case JournalTruncate:
		return j.Truncate()
	case JournalPersist:
		return j.Clear()
	}
	return j.Remove()
}

// returnReserve takes the disk space back that a journal was lent. The caller must hold EXCLUSIVE.
// The end of the journal must be durable before anything is punched: a journal that came back to
// life would make pages that are free now pages in use.
func (r *rollback) returnReserve() {
	if r.options.Durability == DurabilityOff || r.options.System.SyncDir(r.readers.recovery.journal.Name()) == nil {
		r.reserve.Punch()
	}
	r.reserve.Refill()
}

// saveOriginals saves the pages that a batch is about to overwrite and to cut off. The journal may
// use the reserve, which comes back when the journal ends.
func (r *rollback) saveOriginals(j *journal.Journal, base *Snapshot, batch []wal.Page, size uint32) error {
	save := func() error {
		pgnos := overwritten(base, batch, size)
		if err := r.reserve.Fill(pgnos, base.PageShift); err != nil {
			return err
		}
		return j.Save(&Rx{Snapshot: base, core: r.core}, base.PageCount, base.Header.PageSize, pgnos)
	}
	err := dberr.Guard(save)
	if r.lend(err) {
		err = dberr.Guard(save)
	}
	return err
}

// overwritten returns the pages whose images the journal needs: changed pages, and pages that are
// cut off.
func overwritten(base *Snapshot, batch []wal.Page, size uint32) []uint32 {
	var pgnos []uint32
	for _, p := range batch {
		if p.Pgno <= base.PageCount && p.Pgno <= size {
			pgnos = append(pgnos, p.Pgno)
		}
	}
	for pgno := size + 1; pgno <= base.PageCount; pgno++ {
		if pgno != base.LockPage {
			pgnos = append(pgnos, pgno)
		}
	}
	return pgnos
}

// undo plays the journal back after a failure. If that fails as well, the journal stays hot for the
// next connection, and this pager refuses to write.
func (r *rollback) undo(j *journal.Journal) error {
	err := j.PlayBack()
	if err == nil && j.Restored < j.Saved {
		err = dberr.Corrupt(r.path, 0, fmt.Sprintf("its journal was cut off: %d of %d pages could be rolled back", j.Restored, j.Saved))
	}
	if err != nil {
		r.fail(err)
	}
	return dberr.Join(err, j.Close())
}

// awaitExclusive takes EXCLUSIVE once the readers of this process, apart from the writer itself,
// and of others are gone. It gives up when all of ctxs, of which there is one at least, are
// cancelled.
func (r *rollback) awaitExclusive(base *Snapshot, ctxs ...context.Context) error {
	base.lease.Retire()
	err := context.Canceled
	for _, ctx := range ctxs {
		err = r.retryWriter(ctx, func() error {
			if base.lease.Readers() > 1 {
				return errOurReaders
			}
			return r.locks.lockExclusive()
		})
		if err == nil || ctx.Err() == nil {
			return err
		}
	}
	return err
}

// overwrite writes the batch to the file, sets its size, and syncs it (P3).
func (r *rollback) overwrite(base *Snapshot, batch []wal.Page, size uint32) error {
	if err := r.writePages(base, batch, size); err != nil {
		return err
	}
	if size < base.PageCount {
		if err := r.reserve.Cut(int64(size) * int64(base.Header.PageSize)); err != nil {
			return err
		}
	}
	return r.sync(r.file)
}

// writePages writes a batch to the file (P4).
func (r *rollback) writePages(base *Snapshot, batch []wal.Page, size uint32) error {
	for _, page := range batch {
		if page.Pgno > size {
			continue
		}
		if _, err := r.file.WriteAt(page.Data, int64(page.Pgno-1)*int64(base.Header.PageSize)); err != nil {
			return err
		}
	}
	return nil
}
