package pager

import (
	"context"
	"fmt"

	"github.com/foliofs/folio/internal/dberr"
)

// Checkpoint copies the log into the database, as far as mode says. In rollback mode there is
// nothing to do. ErrBusy means that another connection stood in the way for longer than
// BusyTimeout.
func (p *Pager) Checkpoint(ctx context.Context, mode CheckpointMode) error {
	if mode < CheckpointPassive || mode > CheckpointTruncate {
		return p.PathError("checkpoint", fmt.Errorf("%w: mode %d", dberr.ErrUnsupported, mode))
	}
	return dberr.Explain(dberr.Guard(func() error { return p.checkpointNow(ctx, mode) }))
}

func (p *Pager) checkpointNow(ctx context.Context, mode CheckpointMode) error {
	ctx = p.withBudget(ctx)
	var rx Rx
	if err := p.Enter(ctx, &rx); err != nil {
		return err
	}
	log := rx.wal
	rx.End()
	switch {
	case log == nil:
		return nil
	case p.options.ReadOnly || log.Denied != nil:
		return p.PathError("checkpoint", dberr.ErrReadOnly)
	case mode == CheckpointPassive:
		if err := p.readers.beBusy(); err != nil {
			return err
		}
		defer p.readers.busy.Done()
		_, _, err := p.checkpoints.checkpoint(log)
		return dberr.IgnoreLocked(err)
	}
	return p.commits.exclusively(ctx, func() error { return p.commits.checkpointAll(ctx, log, mode) })
}
