package native

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
)

// TestPunchHole punches holes into a content at random, and compares it with bytes in memory.
func TestPunchHole(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v.folio")
	must.Do(t, Create(context.Background(), path, new(CreateOptions), func(b *Builder) error {
		return b.Node(&store.Node{Ino: store.Root, Mode: store.ModeDir | 0o755, Nlink: 2})
	}))
	s, err := Open(path, nil)
	must.Do(t, err)
	defer s.Close()
	n := store.Node{Mode: store.ModeRegular | 0o644, Nlink: 1}
	must.Do(t, s.Update(bg, func(tx store.Tx) error {
		if err := tx.Insert(&n); err != nil {
			return err
		}
		return tx.Link(store.Root, store.Entry{Name: "file", Ino: n.Ino, Type: store.File})
	}))
	rng := rand.New(rand.NewPCG(1, 1))
	var want []byte
	for range 300 {
		off := rng.Int64N(6 * store.ChunkSize)
		size := rng.Int64N(1 << rng.IntN(19))
		must.Do(t, s.Update(bg, func(tx store.Tx) error {
			if rng.IntN(2) == 0 {
				p := bytes.Repeat([]byte{byte(1 + rng.IntN(255))}, int(size))
				want = append(want, make([]byte, max(0, off+size-int64(len(want)))*min(size, 1))...)
				copy(want[min(off, int64(len(want))):], p)
				if err := tx.WriteAt(&n, p, off); err != nil {
					return err
				}
				return tx.Put(&n)
			}
			off, size = min(off, n.Size), min(size, max(0, n.Size-off))
			clear(want[off : off+size])
			if err := tx.(store.HolePuncher).PunchHole(&n, off, size); err != nil {
				return err
			}
			return tx.Put(&n)
		}))
		r, err := s.Begin(bg)
		must.Do(t, err)
		got := make([]byte, n.Size)
		_, err = r.ReadAt(n, got, 0)
		r.End()
		if err == io.EOF {
			err = nil
		}
		must.Do(t, err)
		if !bytes.Equal(got, want) {
			t.Fatal("the content differs")
		}
	}
	report, err := s.Check(bg, nil)
	must.Do(t, err)
	if len(report.Problems) > 0 {
		t.Error(report.Problems)
	}
}
