package sqlitefile

import (
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/foliofs/folio/internal/format"
)

// waysThrough returns ways to read all of a table or an index.
func waysThrough(rx *Rx, object string) map[string]func() error {
	all := func(rows iter.Seq2[Row, error]) func() error {
		return func() error {
			for _, err := range rows {
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	gets := func(get func(i int) error) func() error {
		return func() error {
			for i := range 200 {
				if err := get(i + 1); err != nil {
					return err
				}
			}
			return nil
		}
	}
	table, err := rx.Table(object)
	if err != nil {
		x, err := rx.Index(object)
		if err != nil {
			return map[string]func() error{"Index": func() error { return err }}
		}
		return map[string]func() error{
			"All": all(x.All()), "Backward": all(x.Backward()),
			"Find": gets(func(i int) error { _, _, err := x.Find(fmt.Sprintf("%030d", i)); return err }),
		}
	}
	ways := map[string]func() error{"All": all(table.All()), "Backward": all(table.Backward())}
	if table.WithoutRowid() {
		ways["Find"] = gets(func(i int) error { _, _, err := table.Find(fmt.Sprintf("%030d", i)); return err })
	} else {
		ways["Get"] = gets(func(i int) error { _, _, err := table.Get(int64(i)); return err })
		ways["Range"] = all(table.Range(1, 200))
	}
	return ways
}

// TestEmptyPage empties one leaf of a table, of an index and of a table WITHOUT ROWID, the first, a
// middle and the last one. Whoever comes to it must not pass it over: rows are missing.
func TestEmptyPage(t *testing.T) {
	t.Parallel()
	whole := made(t, `PRAGMA page_size = 512; CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE); CREATE TABLE k (a PRIMARY KEY, b) WITHOUT ROWID;
`+counted(200, "INSERT INTO t SELECT i, printf('%030d', i) FROM n")+";"+counted(200, "INSERT INTO k SELECT printf('%030d', i), i FROM n"))
	for _, object := range []string{"t", "sqlite_autoindex_t_1", "k"} {
		top, _ := whole.node(whole.root(t, object))
		for _, child := range []int{0, top.Cells / 2, top.Cells - 1} {
			m := whole.clone()
			leaf := be32(m.cell(m.root(t, object), child))
			for m.page(leaf)[0] < byte(format.LeafIndex) {
				leaf = be32(m.cell(leaf, 0))
			}
			m.setNode(leaf, func(h *format.PageHeader) {
				*h = format.PageHeader{Kind: h.Kind, ContentStart: m.usable()}
			})
			db := m.open(t, nil)
			view(t, db, func(rx *Rx) error {
				for way, read := range waysThrough(rx, object) {
					if err := read(); !errors.Is(err, ErrCorrupt) {
						t.Errorf("%s, child %d, %s: %v, want ErrCorrupt", object, child, way, err)
					}
				}
				return nil
			})
			if err := db.Compact(t.Context(), nil); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s, child %d, Compact: %v, want ErrCorrupt", object, child, err)
			}
		}
	}
}
