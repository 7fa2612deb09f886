package pager

import (
	"context"
	"runtime"

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
