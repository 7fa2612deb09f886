package sqlitefile

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestSchemaMany opens each of 100,000 tables. They share their page, so that the shell makes them
// quickly.
func TestSchemaMany(t *testing.T) {
	t.Parallel()
	tables := inQuick(10_000, 100_000)
	m := made(t, `
CREATE TABLE t0 (a); INSERT INTO t0 VALUES ('a row');
PRAGMA writable_schema = ON;
`+counted(tables, `INSERT INTO sqlite_schema SELECT 'table', 'T' || i, 'T' || i, 2, 'CREATE TABLE T' || i || ' (a)' FROM n`))
	db, start := m.open(t, nil), time.Now()
	view(t, db, func(rx *Rx) error {
		for i := range tables + 1 {
			table, err := rx.Table(fmt.Sprint("t", i))
			if err != nil {
				return err
			}
			if row, ok, err := table.Get(1); err != nil || !ok || row.Len() != 1 {
				return fmt.Errorf("%s: %v, %v", table.Name(), ok, err)
			}
		}
		return nil
	})
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("opening all tables took %v: more than linear?", d)
	}
}

// TestSchemaLarger lets the cells of page 1 share the overflow pages of one statement: whoever
// believed them would take many times the size of the file.
func TestSchemaLarger(t *testing.T) {
	t.Parallel()
	m := made(t, `PRAGMA page_size = 512; CREATE TABLE a (a /* `+string(pattern(1, 100_000))+` */);`)
	h, _ := m.node(1)
	for i := range 100 {
		copy(m.page(1)[108+2*i:], m.pointer(1, 0)[:2])
	}
	h.Cells = 100
	h.Put(m.page(1), 100)
	view(t, m.open(t, nil), func(rx *Rx) error {
		if _, err := rx.Table("a"); !errors.Is(err, ErrCorrupt) {
			t.Errorf("Table: %v, want ErrCorrupt", err)
		}
		return nil
	})
}

// TestSchemaRoots takes root pages that are none.
func TestSchemaRoots(t *testing.T) {
	t.Parallel()
	for _, root := range []string{"0", "-1", "4294967298", "'x'", "NULL", "1e300", "9223372036854775807"} {
		m := made(t, `
CREATE TABLE t (a); INSERT INTO t VALUES (1);
PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = `+root+`;`)
		view(t, m.open(t, nil), func(rx *Rx) error {
			table, err := rx.Table("t")
			if err != nil {
				return err
			}
			for _, err := range table.All() {
				if !errors.Is(err, ErrCorrupt) {
					t.Errorf("root page %s: %v, want ErrCorrupt", root, err)
				}
			}
			return nil
		})
		if r := m.report(t); r.OK() {
			t.Errorf("root page %s: Check finds nothing", root)
		}
	}
}

func TestSchemaNames(t *testing.T) {
	t.Parallel()
	db := made(t, `CREATE TABLE "A b" (x UNIQUE, y); CREATE INDEX "IndÉx" ON "a B" (y); CREATE VIEW v AS SELECT 1;`).open(t, nil)
	view(t, db, func(rx *Rx) error {
		for _, name := range []string{"A b", "a b", "A B", "sqlite_schema", "SQLITE_MASTER"} {
			if _, err := rx.Table(name); err != nil {
				t.Error(err)
			}
		}
		for _, name := range []string{"sqlite_autoindex_A b_1", "SQLITE_AUTOINDEX_A B_1", "IndÉx", "iNDÉX"} {
			if x, err := rx.Index(name); err != nil || x.Table() != "A b" {
				t.Error(err)
			}
		}
		for _, name := range []string{"v", "", "A", "indéx"} {
			if _, err := rx.Table(name); !errors.Is(err, ErrNoTable) {
				t.Errorf("Table(%q): %v", name, err)
			}
			if _, err := rx.Index(name); !errors.Is(err, ErrNoIndex) {
				t.Errorf("Index(%q): %v", name, err)
			}
		}
		objects, err := rx.Objects()
		var names []string
		for _, o := range objects {
			names = append(names, o.Type+" "+o.Name)
		}
		if want := []string{"table A b", "index sqlite_autoindex_A b_1", "index IndÉx", "view v"}; !slices.Equal(names, want) {
			t.Errorf("Objects: %q, want %q", names, want)
		}
		return err
	})
}
