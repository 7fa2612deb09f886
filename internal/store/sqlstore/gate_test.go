package sqlstore

import (
	"errors"
	"io/fs"
	"testing"
)

// TestGate closes a gate while a call is inside.
func TestGate(t *testing.T) {
	t.Parallel()
	var g gate
	if err := errors.Join(g.enter(), g.enter()); err != nil {
		t.Fatal(err)
	}
	g.leave()
	closed := make(chan error)
	go func() { closed <- g.close() }()
	for g.enter() == nil { // until close is there
		g.leave()
	}
	select {
	case <-closed:
		t.Error("closed with somebody in")
	default:
	}
	g.leave()
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := g.close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}
