package sqlstore

import (
	"context"
	"time"
)

// defaultBusyTimeout is that of folio.Options.
const defaultBusyTimeout = 5 * time.Second

// busyDelays are those of SQLite's own busy handler. The store waits itself, as SQLite's waiting
// knows nothing of contexts, differs from driver to driver, and does not happen where it could be a
// deadlock.
var busyDelays = [...]time.Duration{1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100}

// retry calls fn until no other connection is in its way, or the time is over.
func (s *Store) retry(ctx context.Context, fn func() error) error {
	start := time.Now()
	for i := 0; ; i++ {
		err := fn()
		if !isBusy(err) {
			return err
		}
		delay := busyDelays[min(i, len(busyDelays)-1)] * time.Millisecond
		if time.Since(start)+delay > s.timeout {
			return err
		}
		if err := wait(ctx, delay); err != nil {
			return err
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
