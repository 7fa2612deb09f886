package failure

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

func TestMessage(t *testing.T) {
	t.Parallel()
	if got, want := Message(errors.New("a\nb\x1b[2J")), `a\nb\x1b[2J`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A path that no system takes is shown by its ends.
func TestLongPath(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("d/", 2048)
	deep := "first/" + strings.Repeat("d/", 16000) + "last"
	for _, path := range []string{whole, deep} {
		want := path + ": why"
		if path == deep {
			want = "first/" + strings.Repeat("d/", 97) + "... 31610 bytes ..." + strings.Repeat("d/", 98) + "last: why"
		}
		for _, err := range []error{
			&fs.PathError{Path: path, Err: errors.New("why")},
			&tree.EntryError{Name: path, Err: errors.New("why")},
		} {
			if got := Message(err); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	}
}
