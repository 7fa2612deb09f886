package storetest

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/foliofs/folio/internal/store"
)

// testHoles changes a file at random and compares the holes that the store reports with the content
// and the inode of the file.
func testHoles(t *testing.T, s store.Store, _ Opener) {
	r := random(t)
	var n store.Node
	update(t, s, func(tx store.Tx) (err error) {
		n, err = addFile(tx, "sparse", nil)
		return err
	})
	for range 40 {
		update(t, s, func(tx store.Tx) error {
			if err := changeSparse(tx, r, &n); err != nil {
				return err
			}
			checkHoles(t, tx, n)
			return tx.Put(&n)
		})
		rx := begin(t, s)
		now, err := rx.Node(n.Ino)
		if err != nil {
			t.Fatal(err)
		}
		checkHoles(t, rx, now)
		rx.End()
	}
}

// changeSparse writes a few bytes or some chunks, or sets the size.
func changeSparse(tx store.Tx, r *rand.Rand, n *store.Node) error {
	off := r.Int64N(20 * store.ChunkSize)
	if r.IntN(2) == 0 {
		off -= off % store.ChunkSize
	}
	switch r.IntN(4) {
	case 0:
		return tx.Truncate(n, off)
	case 1:
		return tx.WriteAt(n, bytes.Repeat([]byte{1}, 3*store.ChunkSize), off)
	}
	return tx.WriteAt(n, []byte("data"), off)
}

// checkHoles goes through data and holes in turn: holes must be zeros, and the data must be as many
// bytes as the inode says.
func checkHoles(t *testing.T, rx store.Rx, n store.Node) {
	t.Helper()
	stored := int64(0)
	for at := int64(0); at < n.Size; {
		data, err := rx.NextData(n, at)
		if err != nil || data < at || data > n.Size {
			t.Fatalf("NextData(%d) = %d, %v in %+v", at, data, err, n)
		}
		p := bytes.Repeat([]byte{0xff}, int(data-at))
		if len(p) > 0 {
			if k, err := rx.ReadAt(n, p, at); k != len(p) || !bytes.Equal(p, make([]byte, len(p))) {
				t.Fatalf("the hole from %d to %d is not zeros: %d bytes, %v", at, data, k, err)
			}
		}
		hole, err := rx.NextHole(n, data)
		if err != nil || hole > n.Size || hole <= data && data < n.Size {
			t.Fatalf("NextHole(%d) = %d, %v in %+v", data, hole, err, n)
		}
		stored += hole - data
		at = hole
	}
	if stored != n.Size-n.Holes {
		t.Fatalf("%d bytes of data in %+v", stored, n)
	}
	for _, off := range []int64{n.Size, n.Size + 1, store.MaxSize} {
		data, dataErr := rx.NextData(n, off)
		hole, holeErr := rx.NextHole(n, off)
		if data != n.Size || hole != n.Size || dataErr != nil || holeErr != nil {
			t.Fatalf("behind the end at %d: data %d, %v, hole %d, %v in %+v", off, data, dataErr, hole, holeErr, n)
		}
	}
}
