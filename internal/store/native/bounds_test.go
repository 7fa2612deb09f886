package native

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/race"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// hostileLength is how long the values of hostile volumes are, far more than any that the format
// allows.
const hostileLength = 32 << 20

// hostileValues are rows with a value that is longer than the format allows.
var hostileValues = map[string]func(long string) (table string, row []any){
	"xattr value": func(long string) (string, []any) { return "xattr", []any{2, "user.a", []byte(long)} },
	"xattr text":  func(long string) (string, []any) { return "xattr", []any{2, "user.a", long} },
	"xattr name":  func(long string) (string, []any) { return "xattr", []any{2, long, []byte("value")} },
	"entry name":  func(long string) (string, []any) { return "entry", []any{1, long, 2, 1} },
	"entry inode": func(long string) (string, []any) { return "entry", []any{1, "b", long, 1} },
	"entry type":  func(long string) (string, []any) { return "entry", []any{1, "b", 2, long} },
	"mode":        func(long string) (string, []any) { return "node", []any{3, long, 1, 0, 0, 0, 0, 0, 0, 0, 0} },
	"rdev":        func(long string) (string, []any) { return "node", []any{3, 0o100644, 1, 0, 0, 0, 0, 0, 0, 0, long} },
	"chunk":       func(long string) (string, []any) { return "data", []any{store.DataID(2, 0), []byte(long)} },
	"chunk text":  func(long string) (string, []any) { return "data", []any{store.DataID(2, 0), long} },
}

// makeHostile makes a volume with a file "a" and a row with a long value.
func makeHostile(t *testing.T, table string, row []any) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "hostile.folio")
	makeDatabase(t, path, store.ApplicationID, 1, store.Schema...)
	db, err := sqlitefile.Open(path, nil)
	must.Do(t, err)
	must.Do(t, db.Update(t.Context(), func(tx *sqlitefile.Tx) error {
		node, err := tx.Table("node")
		err = errors.Join(err, node.Put(1, 1, store.ModeDir|0o755, 2, 0, 0, 0, 0, 0, 0, 0, 0))
		err = errors.Join(err, node.Put(2, 2, store.ModeRegular|0o644, 1, 0, 0, 10, 0, 0, 0, 0, 0))
		entry, err2 := tx.Table("entry")
		err = errors.Join(err, err2, entry.PutKey(1, "a", 2, 1))
		hostile, err2 := tx.Table(table)
		if id, ok := row[0].(int64); ok || table == "node" {
			if !ok {
				id = int64(row[0].(int))
			}
			return errors.Join(err, err2, hostile.Put(id, row...))
		}
		return errors.Join(err, err2, hostile.PutKey(row...))
	}))
	must.Do(t, db.Close())
	return path
}

// allocated returns how many bytes fn allocates.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestBounds reads volumes whose values are longer than the format allows, by every method that
// reads. None of them allocates as much as the value has, and Check names it. The test is not
// parallel, because other tests would allocate meanwhile.
func TestBounds(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	long := strings.Repeat("x", hostileLength)
	for name, hostile := range hostileValues {
		t.Run(name, func(t *testing.T) {
			table, row := hostile(long)
			path := makeHostile(t, table, row)
			s, err := Open(path, nil)
			must.Do(t, err)
			defer s.Close()
			for call, fn := range readingCalls(s) {
				if n := allocated(fn); n > 4<<20 {
					t.Errorf("%s allocates %d bytes", call, n)
				}
			}
			n := allocated(func() {
				if r, err := s.Check(context.Background(), nil); err != nil || r.OK() {
					t.Errorf("Check: %v, %v, want a problem", r, err)
				}
			})
			if n > 24<<20 {
				t.Errorf("Check allocates %d bytes", n)
			}
			n = allocated(func() {
				if _, err := s.Repair(context.Background()); err != nil {
					t.Errorf("Repair: %v", err)
				}
			})
			if n > 48<<20 && table != "entry" { // an impossible entry is removed, page by page
				t.Errorf("Repair allocates %d bytes", n)
			}
		})
	}
}

// readingCalls are calls of all methods that read rows.
func readingCalls(s *Store) map[string]func() {
	in := func(fn func(rx store.Rx)) func() {
		return func() {
			rx, err := s.Begin(context.Background())
			if err == nil {
				fn(rx)
				rx.End()
			}
		}
	}
	return map[string]func(){
		"Node":   in(func(rx store.Rx) { _, _ = rx.Node(2); _, _ = rx.Node(3) }),
		"Lookup": in(func(rx store.Rx) { _, _ = rx.Lookup(1, "a"); _, _ = rx.Lookup(1, "b"); _, _ = rx.Lookup(1, "y") }),
		"List": in(func(rx store.Rx) {
			_ = rx.List(1, "", 0, new(store.Listing))
			_ = rx.List(1, "a", 1, new(store.Listing))
		}),
		"Xattrs": in(func(rx store.Rx) { _, _ = rx.Xattrs(2) }),
		"ReadAt": in(func(rx store.Rx) { _, _ = rx.ReadAt(store.Node{Ino: 2, Size: 10}, make([]byte, 10), 0) }),
		"WriteAt": func() {
			_ = s.Update(context.Background(), func(tx store.Tx) error {
				n := store.Node{Ino: 2, Mode: store.ModeRegular | 0o644, Size: 10, Nlink: 1}
				return errors.Join(tx.WriteAt(&n, []byte("text"), 5), tx.WriteAt(&n, []byte("text"), 9), errors.New("undo"))
			})
		},
		"Truncate": func() {
			_ = s.Update(context.Background(), func(tx store.Tx) error {
				n := store.Node{Ino: 2, Mode: store.ModeRegular | 0o644, Size: 10, Nlink: 1}
				return errors.Join(tx.Truncate(&n, 5), errors.New("undo"))
			})
		},
	}
}
