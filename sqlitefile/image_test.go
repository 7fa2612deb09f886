package sqlitefile

import (
	"context"
	"encoding/binary"
	"path/filepath"
	"slices"
	"testing"

	"github.com/foliofs/folio/internal/format"
)

// A dbImage is the bytes of a database file, for tests to damage.
type dbImage []byte

func (m dbImage) header() format.Header {
	h, _ := format.ParseHeader(m)
	return h
}

func (m dbImage) usable() int {
	h := m.header()
	return h.Usable()
}

// page returns the usable bytes of a page. Writing to them changes the image.
func (m dbImage) page(pgno uint32) []byte {
	h := m.header()
	off := int(pgno-1) * h.PageSize
	return m[off : off+h.Usable()]
}

// node returns the header of a b-tree page, and where it stands in the page.
func (m dbImage) node(pgno uint32) (h format.PageHeader, at int) {
	at = format.PageHeaderAt(pgno)
	h, _ = format.ParsePageHeader(m.page(pgno), at)
	return h, at
}

// setNode writes the header of a b-tree page.
func (m dbImage) setNode(pgno uint32, change func(h *format.PageHeader)) {
	h, at := m.node(pgno)
	change(&h)
	h.Put(m.page(pgno), at)
}

// pointer returns the two bytes of the offset of cell i.
func (m dbImage) pointer(pgno uint32, i int) []byte {
	h, at := m.node(pgno)
	return m.page(pgno)[at+h.Kind.HeaderLen()+2*i:]
}

// cell returns the bytes of a page from cell i on.
func (m dbImage) cell(pgno uint32, i int) []byte {
	return m.page(pgno)[offsetAt(m.pointer(pgno, i)):]
}

func (m dbImage) set32(off int, v uint32) { binary.BigEndian.PutUint32(m[off:], v) }

func offsetAt(b []byte) int { return int(binary.BigEndian.Uint16(b)) }

func put16(b []byte, v int) { binary.BigEndian.PutUint16(b, uint16(v)) }

func put32(b []byte, v uint32) { binary.BigEndian.PutUint32(b, v) }

// write writes the image to a file of its own and returns its path.
func (m dbImage) write(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "image.db")
	writeFile(tb, path, m)
	return path
}

// open opens the image, which must be possible.
func (m dbImage) open(tb testing.TB, o *Options) *DB {
	tb.Helper()
	return open(tb, m.write(tb), o)
}

// open opens a database until the test ends.
func open(tb testing.TB, path string, o *Options) *DB {
	tb.Helper()
	db, err := Open(path, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

// report checks the image, mapped and plain, and returns the report, which must be the same.
func (m dbImage) report(tb testing.TB) *CheckReport {
	tb.Helper()
	path := m.write(tb)
	var reports []*CheckReport
	for _, plain := range []bool{false, true} {
		r, err := open(tb, path, &Options{NoMmap: plain}).Check(context.Background(), nil)
		if err != nil {
			tb.Fatal(err)
		}
		reports = append(reports, r)
	}
	if a, b := reports[0], reports[1]; !slices.Equal(a.Problems, b.Problems) || a.Pages != b.Pages {
		tb.Errorf("mapped and plain differ:\n%+v\n%+v", a, b)
	}
	return reports[0]
}

// check fails the test if there is a problem.
func (m dbImage) check(tb testing.TB) {
	tb.Helper()
	for _, p := range m.report(tb).Problems {
		tb.Error(p)
	}
}

// root returns the root page of a table or an index.
func (m dbImage) root(tb testing.TB, name string) uint32 {
	tb.Helper()
	var root uint32
	view(tb, m.open(tb, nil), func(rx *Rx) error {
		objects, err := rx.Objects()
		for _, o := range objects {
			if o.Name == name {
				root = o.Root
			}
		}
		return err
	})
	return root
}

// view runs fn on a snapshot, without error.
func view(tb testing.TB, db *DB, fn func(rx *Rx) error) {
	tb.Helper()
	if err := db.View(context.Background(), fn); err != nil {
		tb.Fatal(err)
	}
}
