package pager

import (
	"context"
	"fmt"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/lease"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// JournalMode returns how the database makes commits atomic now.
func (p *Pager) JournalMode(ctx context.Context) (JournalMode, error) {
	var rx Rx
	if err := p.Begin(ctx, &rx); err != nil {
		return 0, err
	}
	defer rx.End()
	if rx.wal != nil || rx.size == 0 && p.options.newWAL { // without bytes: as the first transaction makes it
		return JournalWAL, nil
	}
	p.readers.mu.Lock()
	defer p.readers.mu.Unlock()
	return p.options.JournalMode, nil
}

// SetJournalMode changes how commits are made atomic. Into and out of WAL mode the database must be
// open nowhere else, or ErrBusy is returned after BusyTimeout; the mode stays in the file. Among
// the others it is a matter of this pager.
func (p *Pager) SetJournalMode(ctx context.Context, mode JournalMode) error {
	if mode < JournalDelete || mode > JournalWAL {
		return p.PathError("journal mode", fmt.Errorf("%w: mode %d", dberr.ErrUnsupported, mode))
	}
	return dberr.Explain(p.commits.exclusively(ctx, func() (err error) {
		defer osfile.Catch(osfile.Arm(), &err)
		wal := p.commits.writer.base.wal != nil
		switch {
		case mode == JournalWAL && !wal:
			err = p.enterWAL(ctx)
		case mode != JournalWAL && wal:
			err = p.leaveWAL(ctx)
		}
		if err == nil && mode != JournalWAL {
			p.readers.mu.Lock()
			p.options.JournalMode = mode // the writer reads it while it holds the write lock, which this is
			p.readers.mu.Unlock()
		}
		return err
	}))
}

// enterWAL marks the file as one in WAL mode, and opens the log. The caller must be the writer.
func (p *Pager) enterWAL(ctx context.Context) error {
	w := p.commits.writer
	base := w.base
	if err := dberr.Join(p.checkSide("-wal"), p.checkSide("-shm")); err != nil {
		return err
	}
	page1, err := p.versioned(base, format.VersionWAL)
	if err != nil {
		return err
	}
	if err := p.rollback.commitFile(nil, base, []wal.Page{{Pgno: 1, Data: page1}}, base.PageCount, ctx); err != nil {
		return err
	}
	w.base = nil
	defer base.lease.Leave()
	p.readers.mu.Lock()
	defer p.readers.mu.Unlock()
	if err = p.readers.openLog((*[format.HeaderSize]byte)(page1)); err == nil {
		p.readers.lease = nil // SHARED is the log's from now on
	}
	return dberr.Join(err, p.locks.toShared())
}

// checkSide returns an error if a file next to the database cannot be used.
func (p *Pager) checkSide(suffix string) error {
	f, err := p.options.System.OpenSide(p.file, suffix, osfile.ReadOnly)
	if err != nil {
		return dberr.IgnoreMissing(err)
	}
	return f.Close()
}

// versioned returns page 1 with other format versions, as one more commit.
func (p *Pager) versioned(base *Snapshot, version byte) ([]byte, error) {
	page, err := (&Rx{Snapshot: base, core: &p.core}).WholePage(1)
	if err != nil {
		return nil, err
	}
	page1 := append([]byte(nil), page...)
	page1[18], page1[19] = version, version
	CountCommit(page1, base.PageCount)
	return page1, nil
}

// leaveWAL copies the log back, removes it, and marks the file as one in rollback mode. The caller
// is the writer.
func (p *Pager) leaveWAL(ctx context.Context) error {
	err := p.replacer.alone(ctx, func() error {
		p.readers.mu.Lock()
		defer p.readers.mu.Unlock()
		return dberr.Guard(p.markRollback)
	})
	return p.PathError("journal mode", err)
}

// markRollback writes the header of a file in rollback mode. The caller must hold EXCLUSIVE.
func (p *Pager) markRollback() error {
	var b [format.HeaderSize]byte
	if _, err := p.file.ReadAt(b[:], 0); err != nil {
		return dberr.CutOff(p.path, err)
	}
	size, err := p.file.Size()
	if err != nil {
		return err
	}
	base, err := p.readers.newSnapshot(p.readers.snapshot.Load(), b[:], size)
	if err != nil {
		return err
	}
	page1, err := p.versioned(base, format.VersionRollback)
	if err != nil {
		return err
	}
	base.lease = lease.New(0, func() {})
	return p.rollback.commitFile(nil, base, []wal.Page{{Pgno: 1, Data: page1}}, base.PageCount, context.Background())
}
