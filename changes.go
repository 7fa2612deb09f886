package folio

import (
	"context"
	"iter"
	"time"
)

// changesInterval is the time between two looks at the version of the volume.
const changesInterval = 5 * time.Millisecond

// Changes yields the version of the volume each time that a commit has changed it, whichever
// process made the commit. It looks every 5 ms: all commits in between are one change. A version
// only tells that something has changed since the one before. Changes that are made while the body
// of the loop runs are yielded when it ends. The iteration ends when ctx is done, without an error,
// or with the error of looking at the volume.
func (v *Volume) Changes(ctx context.Context) iter.Seq2[uint64, error] {
	return func(yield func(version uint64, err error) bool) {
		tick := time.NewTicker(changesInterval)
		defer tick.Stop()
		last, err := v.version(ctx)
		for now := last; err == nil; now, err = v.version(ctx) {
			if now != last && !yield(now, nil) {
				return
			}
			last = now
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		if ctx.Err() == nil {
			yield(0, v.volumeError("changes", err))
		}
	}
}

// version returns the version of the volume. With a store that tells no version, it is that of a
// transaction.
func (v *Volume) version(ctx context.Context) (uint64, error) {
	if version, ok := v.store.Version(); ok {
		return version, nil
	}
	rx, err := v.store.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer rx.End()
	return rx.Version(), nil
}
