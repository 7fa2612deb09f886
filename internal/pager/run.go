package pager

import (
	"cmp"
	"context"
	"runtime"

	"github.com/foliofs/folio/internal/osfile"
)

// run does work in the write lock that the caller has, and returns once it is committed.
func (c *committer) run(ctx context.Context, tx *Tx, work Work) error {
	return c.await(c.runOne(ctx, tx, work))
}

// await returns once the group is committed that a caller waits for, and commits it if the caller
// is the first of it.
func (c *committer) await(g *group, done chan struct{}, err error) error {
	switch {
	case g == nil:
		return err
	case done == nil:
		if c.writer.callers.Load() > 1 {
			runtime.Gosched() // goroutines that are ready to write join g
		}
		return c.lead(g)
	}
	<-done
	return cmp.Or(g.err, err)
}

// runOne does work, gives up the write lock, and returns the group that its caller waits for, nil
// if there is none, and a channel that is closed when the group is committed, nil for its first.
func (c *committer) runOne(ctx context.Context, tx *Tx, work Work) (g *group, done chan struct{}, err error) {
	defer func() { c.writer.writeLock <- struct{}{} }()
	return follower(c.transact(ctx, tx, work))
}

// follower adds the channel that is closed when a group is committed, nil for its first
// transaction.
func follower(g *group, first bool, err error) (*group, chan struct{}, error) {
	if g == nil || first {
		return g, nil, err
	}
	if g.done == nil {
		g.done = make(chan struct{})
	}
	return g, g.done, err
}

// transact does work and returns the group that its caller waits for, nil if there is none, and
// whether it is the first of it, who commits it. One that has failed or changed nothing waits, too,
// if the state that it has seen is not committed yet: its result would not be true if that failed.
// The caller must hold the write lock.
func (c *committer) transact(ctx context.Context, tx *Tx, work Work) (g *group, first bool, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	c.flushSpilled()
	if err := c.prepare(ctx); err != nil {
		return nil, false, err
	}
	defer c.releaseIfIdle()
	c.writer.begin(c, tx)
	defer tx.end()
	return c.keep(tx, tx.call(ctx, work))
}

// keep keeps a transaction that has run, unless it has failed, and returns the results of transact.
func (c *committer) keep(tx *Tx, err error) (g *group, first bool, _ error) {
	if err == nil {
		g, err = tx.keep()
	}
	switch {
	case g != nil:
		return g, g.count == 1, nil
	case tx.lost != nil:
		return nil, false, tx.lost
	}
	return c.writer.newest(), false, err
}

// start begins a transaction of BeginUpdate. The caller must hold the write lock.
func (c *committer) start(ctx context.Context, tx *Tx) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	c.flushSpilled()
	if err := c.prepare(ctx); err != nil {
		return err
	}
	defer c.releaseIfIdle()
	c.writer.begin(c, tx)
	tx.ctx, tx.explicit, tx.waiting = ctx, true, c.writer.newest() != nil
	c.writer.runs.Add(1)
	return nil
}

// end implements owner.
func (c *committer) end(tx *Tx, failed error) error {
	defer c.writer.callers.Add(-1)
	return c.await(c.endOne(tx, failed))
}

// endOne ends the transaction and gives up the write lock. It returns the arguments of await.
func (c *committer) endOne(tx *Tx, failed error) (g *group, done chan struct{}, err error) {
	defer func() { c.writer.runs.Add(1); c.writer.writeLock <- struct{}{} }()
	defer osfile.Catch(osfile.Arm(), &err)
	defer c.releaseIfIdle()
	defer tx.end()
	return follower(c.keep(tx, failed))
}
