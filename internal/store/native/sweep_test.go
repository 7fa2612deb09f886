package native

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/history"
)

var sweepFiles = flag.Int("sweep.files", 500, "files of TestSweepSteps")

// TestSweepSteps removes the oldest of 100 snapshots, one from the middle, and the rest, and logs
// how long a transaction of that has held the writer lock at most. Between two snapshots a tenth of
// the files gets another content, of up to 8 KB. More:
//
//	go test ./store/native -run TestSweepSteps -sweep.files 20000 -v
func TestSweepSteps(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v.folio")
	must.Do(t, Create(bg, path, new(CreateOptions), func(b *Builder) error {
		return b.Node(&store.Node{Ino: store.Root, Mode: store.ModeDir | 0o755, Nlink: 2})
	}))
	s, err := Open(path, nil)
	must.Do(t, err)
	defer s.Close()
	nodes := make([]store.Node, *sweepFiles)
	change := func(from, step int) {
		must.Do(t, s.Update(bg, func(tx store.Tx) error {
			for i := from; i < len(nodes); i += step {
				if err := rewrite(tx, &nodes[i], i); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	change(0, 1)
	var names []store.Snapshot
	for i := range 100 {
		made, err := s.Snapshot(bg, fmt.Sprint("s", i))
		must.Do(t, err)
		names = append(names, made)
		change(i%10, 10)
	}
	remove := func(what string, list ...store.Snapshot) {
		var took []time.Duration
		timed := func(ctx context.Context, fn func(t *history.Tx) error) error {
			var begun time.Time
			err := s.update(ctx, func(t *history.Tx) error {
				begun = time.Now()
				return fn(t)
			})
			took = append(took, time.Since(begun))
			return err
		}
		must.Do(t, timed(bg, func(t *history.Tx) error { return t.RemoveSnapshots(list) }))
		must.Do(t, history.Sweep(bg, s.db, timed))
		slices.Sort(took)
		t.Logf("%s: %d steps, the median %v, 99 of 100 %v, the longest %v", what, len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
	}
	remove("the oldest", names[0])
	remove("one in the middle", names[50])
	rest := append(append([]store.Snapshot{}, names[1:50]...), names[51:]...)
	remove("all others", rest...)
	if list, err := s.Snapshots(bg); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	report, err := s.Check(bg, nil)
	must.Do(t, err)
	if len(report.Problems) > 0 {
		t.Error(report.Problems)
	}
}

// rewrite gives a file another content, and makes the file if there is none.
func rewrite(tx store.Tx, n *store.Node, i int) error {
	if n.Ino == 0 {
		*n = store.Node{Mode: store.ModeRegular | 0o644, Nlink: 1}
		if err := tx.Insert(n); err != nil {
			return err
		}
		if err := tx.Link(store.Root, store.Entry{Name: fmt.Sprint("f", i), Ino: n.Ino, Type: store.File}); err != nil {
			return err
		}
	}
	if err := tx.WriteAt(n, bytes.Repeat([]byte{byte(n.Mtime)}, 1+i%8000), 0); err != nil {
		return err
	}
	n.Mtime++
	return tx.Put(n)
}
