//go:build unix

package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// TestContention lets goroutines of three Stores make, move and remove the same few files and
// directories, and count in a file. Of the calls that only one can win, one wins; no count is lost;
// and the volume is whole.
func TestContention(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	var volumes []*folio.Volume
	for range 3 {
		volumes = append(volumes, volume(t, address))
	}
	rounds := 30
	if testing.Short() {
		rounds = 8
	}
	must.Do(t, errors.Join(volumes[0].MkdirAll("x", 0o755), volumes[0].MkdirAll("y", 0o755), volumes[0].WriteFile("count", []byte("0"), 0o644)))
	var wg sync.WaitGroup
	made, moved, removed := make([]atomic.Int64, rounds), make([]atomic.Int64, rounds), make([]atomic.Int64, rounds)
	for i := range 12 {
		v := volumes[i%len(volumes)]
		wg.Go(func() {
			for r := range rounds {
				name := fmt.Sprint(r)
				win := func(won *atomic.Int64, err error, lost ...error) {
					for _, e := range lost {
						if errors.Is(err, e) {
							return
						}
					}
					if err != nil {
						t.Errorf("round %d: %v", r, err)
					}
					won.Add(1)
				}
				win(&made[r], v.Mkdir("x/"+name, 0o755), fs.ErrExist)
				win(new(atomic.Int64), v.WriteFile("x/"+name+"/"+strconv.Itoa(i), nil, 0o644), fs.ErrNotExist)
				win(&moved[r], v.Rename("x/"+name, "y/"+name), fs.ErrNotExist, fs.ErrExist)
				f, err := v.OpenFile("only-"+name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
				win(new(atomic.Int64), err, fs.ErrExist)
				if err == nil {
					_ = f.Close()
				}
				if i%2 == 0 {
					win(&removed[r], v.Remove("only-"+name), fs.ErrNotExist)
				}
				win(new(atomic.Int64), v.RemoveAll("x/"+name+"/"+strconv.Itoa(i)))
				err = v.Update(context.Background(), func(tx *folio.Tx) error {
					p, err := tx.ReadFile("count")
					if err != nil {
						return err
					}
					n, err := strconv.Atoi(string(p))
					return errors.Join(err, tx.WriteFile("count", strconv.AppendInt(nil, int64(n+1), 10), 0o644))
				})
				win(new(atomic.Int64), err)
			}
		})
	}
	wg.Wait()
	for r := range rounds {
		// A directory that was moved away makes room for another one, which then cannot follow it.
		if n := moved[r].Load(); n != 1 {
			t.Errorf("round %d: moved %d times", r, n)
		}
		if n := made[r].Load(); n < 1 {
			t.Errorf("round %d: made %d times", r, n)
		}
		if n := removed[r].Load(); n < 1 {
			t.Errorf("round %d: removed %d times", r, n)
		}
	}
	if p, err := volumes[0].ReadFile("count"); err != nil || string(p) != strconv.Itoa(12*rounds) {
		t.Errorf("counted %s of %d, %v", p, 12*rounds, err)
	}
	if report, err := volumes[1].Check(context.Background(), nil); err != nil || !report.OK() {
		t.Errorf("%+v, %v", report, err)
	}
}
