package archive

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
)

// TestLongTexts checks that a text of 2 MB where a name or a number belongs is an error
// that is short, and that it is not read.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2_000_000)
	sqlar := func(row ...any) func(t *testing.T) error {
		return func(t *testing.T) error {
			src, err := trySqlar(t, "CREATE TABLE sqlar(name TEXT, mode, mtime, sz, data BLOB)", row)
			if err == nil {
				_, err = treetest.Collect(src)
			}
			return err
		}
	}
	for name, run := range map[string]func(t *testing.T) error{
		"member":    sqlar(long, 0o100644, 1, 1, []byte("x")),
		"its mode":  sqlar("a", long, 1, 1, []byte("x")),
		"its size":  sqlar("a", 0o100644, 1, long, []byte("x")),
		"its mtime": sqlar("a", 0o100644, long, 1, []byte("x")),
	} {
		t.Run(name, func(t *testing.T) {
			err := run(t)
			if !errors.Is(err, tree.ErrDamaged) || len(fmt.Sprint(err)) > 300 {
				t.Errorf("got %.300v", err)
			}
		})
	}
}
