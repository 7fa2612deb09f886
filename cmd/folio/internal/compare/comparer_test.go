package compare

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestContents compares contents of several parts that differ in one byte, or not at all, by one
// goroutine and by two.
func TestContents(t *testing.T) {
	t.Parallel()
	const part = 128 << 10
	for _, size := range []int{0, 1, part - 1, part, part + 1, 5 * part, 5*part + 7} {
		for _, at := range []int{-1, 0, size / 2, size - 1} {
			text := bytes.Repeat([]byte("0123456789"), size/10+1)[:size]
			other := bytes.Clone(text)
			if at >= 0 && at < size {
				other[at] ^= 1
			}
			want := bytes.Equal(text, other)
			a, b := makeDir(t, text), makeDir(t, other)
			for _, apart := range []bool{false, true} {
				if got := equalFiles(t, a, b, apart); got != want {
					t.Errorf("%d bytes, the byte %d differs, apart %v: equal %v", size, at, apart, got)
				}
			}
		}
	}
}

// makeDir returns a directory with a file f.
func makeDir(t *testing.T, content []byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func equalFiles(t *testing.T, a, b string, apart bool) (equal bool) {
	t.Helper()
	err := View(t.Context(), filepath.Join(a, "f"), filepath.Join(b, "f"), func(a, b Tree) error {
		x, err := a.Top()
		if err != nil {
			return err
		}
		y, err := b.Top()
		if err != nil {
			return err
		}
		kind, _, err := (&Comparer{Ctx: t.Context(), Ahead: apart}).Compare(x, y)
		equal = kind == 0
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return equal
}
