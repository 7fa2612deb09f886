package pgstore

import (
	"context"
	"math/rand/v2"
	"time"
)

// A delay spreads the attempts of an operation. The first one follows at once, the others after
// times that double and that differ at random.
type delay struct {
	begun time.Time // when the first attempt failed, or earlier
	tries int
}

const (
	firstDelay = 2 * time.Millisecond
	lastDelay  = 500 * time.Millisecond
)

// wait waits before the next attempt. It returns false if ctx is done, or if the attempts have
// taken longer than the limit.
func (d *delay) wait(ctx context.Context, limit time.Duration) bool {
	if d.begun.IsZero() {
		d.begun = time.Now()
	}
	if ctx.Err() != nil || time.Since(d.begun) > limit {
		return false
	}
	if d.tries++; d.tries == 1 {
		return true
	}
	length := min(lastDelay, firstDelay<<min(d.tries-2, 16))
	timer := time.NewTimer(length/2 + rand.N(length))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// listenAgain returns when a listener tries again. A standby server cannot listen, but may become
// the primary.
func listenAgain(err error) time.Duration {
	if codeOf(err) == codeReadOnly {
		return time.Minute
	}
	return time.Second
}
