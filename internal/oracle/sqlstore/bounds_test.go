package sqlstore_test

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/sqlstore"
	"github.com/foliofs/folio/internal/store/storetest"
)

// TestBounds reads a volume whose values are longer than the format allows: they come to nothing,
// and take no memory of the program. No other test may run meanwhile, as the allocations are those
// of the whole process.
func TestBounds(t *testing.T) {
	for _, d := range drivers {
		t.Run(d.Name, func(t *testing.T) { testBounds(t, d) })
	}
}

func testBounds(t *testing.T, d *suite.Driver) {
	path := filepath.Join(t.TempDir(), "bounds.folio")
	name, dsn := d.Name, path
	s, err := sqlstore.Open(name, dsn, &sqlstore.Options{Create: true})
	must.Do(t, err)
	must.Do(t, s.Update(context.Background(), func(tx store.Tx) error {
		_, err := storetest.AddFile(tx, "file", nil)
		return err
	}))
	must.Do(t, s.Close())
	d.Exec(t, path,
		"INSERT INTO xattr VALUES (1, 'user.long', zeroblob(30000000))",
		"INSERT OR REPLACE INTO data VALUES ((SELECT ino FROM entry) << 28, zeroblob(30000000))",
		"UPDATE node SET size = 1 << 40, holes = 0 WHERE ino <> 1")
	s, err = sqlstore.Open(name, dsn, nil)
	must.Do(t, err)
	defer s.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rx, err := s.Begin(context.Background())
	must.Do(t, err)
	if list, err := rx.Xattrs(store.Root); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("Xattrs: %d, %v, want ErrDamaged", len(list), err)
	}
	e, err := rx.Lookup(store.Root, "file")
	must.Do(t, err)
	if n, err := rx.Node(e.Ino); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("Node of a file that is larger than the database: %+v, %v, want ErrDamaged", n, err)
	}
	n := store.Node{Ino: e.Ino, Mode: store.ModeRegular, Size: 1 << 18, Holes: 1 << 17}
	if _, err := rx.ReadAt(n, make([]byte, n.Size), 0); err != nil {
		t.Error(err)
	}
	rx.End()
	runtime.ReadMemStats(&after)
	if size := after.TotalAlloc - before.TotalAlloc; size > 4<<20 {
		t.Errorf("reading allocates %d bytes", size)
	}
	if r, err := s.Check(context.Background(), nil); err != nil || r.OK() {
		t.Errorf("Check: %+v, %v, want problems", r, err)
	}
}
