package pgstore

import (
	"context"
	"sync"
)

// A background has goroutines that work for a Store until it is closed.
type background struct {
	cancel  context.CancelFunc // nil if there are none
	running sync.WaitGroup
}

// start calls each function in a goroutine, with a context that stop cancels.
func (b *background) start(fns ...func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	for _, fn := range fns {
		b.running.Go(func() { fn(ctx) })
	}
}

// stop cancels the context and waits until the functions have returned.
func (b *background) stop() {
	if b.cancel != nil {
		b.cancel()
		b.running.Wait()
	}
}
