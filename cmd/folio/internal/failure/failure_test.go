package failure

import (
	"errors"
	"testing"
)

func TestMessage(t *testing.T) {
	t.Parallel()
	if got, want := Message(errors.New("a\nb\x1b[2J")), `a\nb\x1b[2J`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
