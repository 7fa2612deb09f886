//go:build unix

package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// TestMoves lets goroutines of four Stores make directories, files and links, and move and remove
// them, below each other. No directory may get below itself, whatever is moved at the same time.
func TestMoves(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	var volumes []*folio.Volume
	for range 4 {
		volumes = append(volumes, volume(t, address))
	}
	seed := random.New(t).Uint64()
	changes := 100
	if testing.Short() {
		changes = 20
	}
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			for range changes {
				if err := move(volumes[i%len(volumes)], r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if report, err := volumes[0].Check(context.Background(), nil); err != nil || !report.OK() {
		t.Errorf("%+v, %v", report, err)
	}
}

// move makes a random change. It returns an error that no random change should have.
func move(v *folio.Volume, r *rand.Rand) error {
	dir := func() string {
		path := fmt.Sprintf("d%d", r.IntN(4))
		for range r.IntN(4) {
			path += fmt.Sprintf("/d%d", r.IntN(4))
		}
		return path
	}
	var err error
	switch r.IntN(10) {
	case 0, 1, 2:
		err = v.Mkdir(dir(), 0o755)
	case 3, 4, 5:
		err = v.Rename(dir(), dir())
	case 6:
		err = v.Remove(dir())
	case 7:
		err = v.WriteFile(dir()+"/file", []byte("x"), 0o644)
	case 8:
		err = v.Link(dir()+"/file", dir()+"/file")
	case 9:
		err = v.Remove(dir() + "/file")
	}
	for _, usual := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrInvalid, syscall.ENOTEMPTY} {
		if errors.Is(err, usual) {
			return nil
		}
	}
	return err
}
