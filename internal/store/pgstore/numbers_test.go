//go:build unix

package pgstore_test

import (
	"errors"
	"testing"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// TestNumbers makes many inodes in one transaction. It does not wait for the server for each
// thousand numbers, and none comes twice.
func TestNumbers(t *testing.T) {
	t.Parallel()
	s := open(t, pgserver.Volume(t), &pgstore.Options{Create: true})
	const inodes = 60_000
	enough := errors.New("enough")
	seen := make(map[store.Ino]bool, inodes)
	trips := 0
	err := s.Update(ctx, func(tx store.Tx) error {
		for range inodes {
			n := store.Node{Mode: 0o100644, Nlink: 1}
			if err := tx.Insert(&n); err != nil {
				return err
			}
			if seen[n.Ino] {
				t.Errorf("the number %d was given twice", n.Ino)
			}
			seen[n.Ino] = true
		}
		trips = pgstore.Trips(tx)
		return enough
	})
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
	if trips > inodes/2000 {
		t.Errorf("%d trips to make %d inodes", trips, inodes)
	}
}
