package disk

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// A breaking content fails where it breaks.
type breaking struct {
	*bytes.Reader
	at int64
}

var errBroken = errors.New("broken")

func (b breaking) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > b.at {
		return 0, errBroken
	}
	return b.Reader.ReadAt(p, off)
}

// A content of many pieces is written whole, or not at all.
func TestManyPieces(t *testing.T) {
	t.Parallel()
	content := make([]byte, 5*arenaSize+7)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	size := int64(len(content))
	for _, at := range []int64{size, size - 1, 4 * arenaSize, 2*arenaSize - 1, 0} {
		dir := t.TempDir()
		err := writeTree(t, dir, &WriteOptions{}, nil, func(w *Writer) error {
			return w.addFile("f", fileAttr(0o644, len(content)), breaking{bytes.NewReader(content), at})
		})
		if at == size {
			if err != nil {
				t.Error(err)
			}
			checkFile(t, filepath.Join(dir, "f"), string(content))
			continue
		}
		if _, missing := os.Lstat(filepath.Join(dir, "f")); !errors.Is(err, errBroken) || !errors.Is(missing, fs.ErrNotExist) {
			t.Errorf("broken at %d: %v; the file: %v", at, err, missing)
		}
	}
}

// A write that fails is told by what comes next: another write, or the end.
func TestBehindFails(t *testing.T) {
	t.Parallel()
	failing := func([]byte, int64) error { return errBroken }
	for _, next := range []func(b *writeBehind) error{(*writeBehind).wait, func(b *writeBehind) error { return b.write(b.piece(arenaSize), arenaSize) }} {
		b := &writeBehind{writeAt: failing, pieces: new([2][]byte)}
		if err := b.write(b.piece(arenaSize), 0); err != nil {
			t.Error(err)
		}
		if err := next(b); err != errBroken {
			t.Error("the write before:", err)
		}
		if err := b.wait(); err != nil {
			t.Error("told twice:", err)
		}
	}
}
