//go:build unix

package pgstore_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// TestXattrs reads the extended attributes of all inodes in several orders. Some inodes have none,
// some have more than one statement reads.
func TestXattrs(t *testing.T) {
	t.Parallel()
	r := random.New(t)
	s := open(t, pgserver.Volume(t), &pgstore.Options{Create: true})
	v, err := folio.OpenStore(private.Key{}, s, nil)
	must.Do(t, err)
	const files = 300
	want := make(map[store.Ino][]store.Xattr)
	var inodes []store.Ino
	fill := func(name string, attrs int) {
		must.Do(t, v.WriteFile(name, nil, 0o644))
		for i := range attrs {
			must.Do(t, v.SetXattr(name, fmt.Sprintf("user.%03d", i), fmt.Appendf(nil, "%s %d", name, i)))
		}
		info, err := v.Stat(name)
		must.Do(t, err)
		ino := store.Ino(info.Sys().(*folio.Node).Ino)
		inodes = append(inodes, ino)
		for i := range attrs {
			want[ino] = append(want[ino], store.Xattr{Name: fmt.Sprintf("user.%03d", i), Value: fmt.Appendf(nil, "%s %d", name, i)})
		}
	}
	read := func(rx store.Rx, ino store.Ino) {
		t.Helper()
		got, err := rx.Xattrs(ino)
		if err != nil || !slices.EqualFunc(got, want[ino], sameXattr) {
			t.Errorf("inode %d: %v, %v; want %v", ino, got, err, want[ino])
		}
		for _, x := range got { // they are the caller's
			clear(x.Value)
		}
	}
	// trips reads all in the order of their numbers, again, and in another order.
	trips := func() int {
		rx, err := s.Begin(ctx)
		must.Do(t, err)
		defer rx.End()
		for _, ino := range inodes {
			read(rx, ino)
			read(rx, ino)
		}
		n := pgstore.Trips(rx)
		for _, i := range r.Perm(len(inodes)) {
			read(rx, inodes[i])
		}
		return n
	}
	for i := range files {
		fill(fmt.Sprint("file", i), 0)
	}
	if n := trips(); n > 2 {
		t.Errorf("%d trips to read that %d files have no attributes", n, files)
	}
	for i := range files {
		fill(fmt.Sprint("other", i), []int{0, 1, 1, 2, 9, 70}[r.IntN(6)/max(1, i%20)])
	}
	if n := trips(); n > files/2 {
		t.Errorf("%d trips to read the attributes of %d files", n, files)
	}
}

func sameXattr(a, b store.Xattr) bool { return a.Name == b.Name && bytes.Equal(a.Value, b.Value) }
