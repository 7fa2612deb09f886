package release

import (
	"errors"
	"io/fs"
	"testing"
)

// TestGate closes a gate while a call is inside.
func TestGate(t *testing.T) {
	t.Parallel()
	var g Gate
	if err := errors.Join(g.Enter(), g.Enter()); err != nil {
		t.Fatal(err)
	}
	g.Leave()
	closed := make(chan error)
	go func() { closed <- g.Close() }()
	for g.Enter() == nil { // until close is there
		g.Leave()
	}
	select {
	case <-closed:
		t.Error("closed with somebody in")
	default:
	}
	g.Leave()
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := g.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}
