package pager

import (
	"context"
	"errors"
	"testing"

	"github.com/foliofs/folio/internal/dberr"
)

// TestPatience looks at transactions as a call that waits does: it gives up only if one and the
// same transaction runs from one look to the next.
func TestPatience(t *testing.T) {
	t.Parallel()
	p := newPager("a.db", Options{})
	w := NewPatience()
	defer w.Look.Stop()
	p.BeginWait(&w)
	for i, c := range []struct {
		begunOrEnded uint64 // since the look before
		want         error
	}{
		{0, nil}, // no transaction runs
		{1, nil}, // one has begun
		{0, dberr.ErrBusy},
		{2, nil}, // it has ended, and another one has begun
		{4, nil},
		{0, dberr.ErrBusy},
		{1, nil}, // the last one has ended
		{0, nil},
	} {
		p.writer.runs.Add(c.begunOrEnded)
		if err := w.Lost(context.Background()); !errors.Is(err, c.want) {
			t.Errorf("look %d: %v, want %v", i, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.Lost(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the context is over", err)
	}
}
