package gen

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/internal/oracle/ours"
	"github.com/foliofs/folio/sqlitefile"
)

// A comparison compares one database with C SQLite's description of it, in one transaction of the
// engine. Its methods return the first difference.
type comparison struct {
	src *source
	rx  *sqlitefile.Rx
	enc string
	*maker
}

func newComparison(s Spec, src *source, rx *sqlitefile.Rx) *comparison {
	return &comparison{src, rx, s.Encoding, &maker{spec: s, rng: rand.New(rand.NewPCG(s.Seed, 7))}}
}

// check wants the engine to find nothing wrong, and to count the same as C SQLite.
func (c *comparison) check() error {
	report, err := c.rx.Check(ctx, nil)
	if err != nil {
		return err
	}
	if !report.OK() {
		return fmt.Errorf("check: %d problems: %v", len(report.Problems), report.Problems[0])
	}
	rows, entries, indexes := 0, 0, 0
	for _, t := range c.src.tables {
		rows += len(t.rows)
		indexes += len(t.indexes)
		for _, o := range t.indexes {
			entries += len(o.entries)
		}
	}
	counts, err := c.src.conn.Strings(ctx, "SELECT page_count FROM pragma_page_count UNION ALL SELECT freelist_count FROM pragma_freelist_count")
	if err != nil {
		return err
	}
	pages, free := fmt.Sprint(report.Pages.Total), fmt.Sprint(report.Pages.FreeTrunk+report.Pages.FreeLeaf)
	if report.Tables != len(c.src.tables) || int(report.Rows) != rows || report.Indexes != indexes || int(report.Entries) != entries ||
		pages != counts[0] || free != counts[1] {
		return fmt.Errorf("check counts %+v; want %d tables, %d rows, %d indexes, %d entries, pages and free %v",
			report, len(c.src.tables), rows, indexes, entries, counts)
	}
	return nil
}

// schema compares sqlite_schema, read as a table, and the header's wishes.
func (c *comparison) schema() error {
	t, err := c.rx.Table("sqlite_schema")
	if err != nil {
		return err
	}
	if err := c.rows(t.All(), c.src.objects, nil, everything); err != nil {
		return fmt.Errorf("sqlite_schema: %w", err)
	}
	objects, err := c.rx.Objects()
	if err == nil && len(objects) != len(c.src.objects) {
		err = fmt.Errorf("%d objects, want %d", len(objects), len(c.src.objects))
	}
	info := c.rx.Info()
	if info.PageSize != c.spec.PageSize || info.Encoding != c.spec.Encoding || info.Reserved != c.spec.Reserved || info.AutoVacuum != (c.spec.AutoVacuum > 0) {
		err = fmt.Errorf("info %+v", info)
	}
	return err
}

func everything(int) bool { return true }

// table compares all ways to read a table.
func (c *comparison) table(t *table) error {
	et, err := c.rx.Table(t.Name)
	if err != nil {
		return err
	}
	if err := columns(et, t); err != nil {
		return err
	}
	if err := c.rows(et.All(), t.rows, t.rowids, t.stored); err != nil {
		return fmt.Errorf("all: %w", err)
	}
	if err := c.rows(et.Backward(), reversed(t.rows), reversed(t.rowids), t.stored); err != nil {
		return fmt.Errorf("backward: %w", err)
	}
	if t.WithoutRowid {
		return c.search(t.primary, et.Find, et.Prefix, et.Cursor)
	}
	if err := c.gets(et, t); err != nil {
		return err
	}
	return c.ranges(et, t)
}

func columns(et sqlitefile.Table, t *table) error {
	cols := et.Columns()
	if len(cols) != len(t.Columns) || et.WithoutRowid() != t.WithoutRowid {
		return fmt.Errorf("%d columns, without rowid %v; want %d, %v", len(cols), et.WithoutRowid(), len(t.Columns), t.WithoutRowid)
	}
	for i, col := range t.Columns {
		if cols[i].Name != col.Name || cols[i].Key != col.PK {
			return fmt.Errorf("column %d is %+v, want %+v", i, cols[i], col)
		}
	}
	return nil
}

func reversed[T any](s []T) []T {
	r := slices.Clone(s)
	slices.Reverse(r)
	return r
}

// rows compares a sequence of rows with those expected. rowids is nil where there are none.
func (c *comparison) rows(seq iter.Seq2[sqlitefile.Row, error], want [][]judge.Value, rowids []int64, stored func(int) bool) error {
	n := 0
	for row, err := range seq {
		if err != nil {
			return fmt.Errorf("row %d of %d: %w", n, len(want), err)
		}
		if n == len(want) {
			return fmt.Errorf("more than %d rows", n)
		}
		if rowids != nil && row.Rowid() != rowids[n] {
			return fmt.Errorf("row %d has rowid %d, want %d", n, row.Rowid(), rowids[n])
		}
		if err := c.row(&row, want[n], stored); err != nil {
			return fmt.Errorf("row %d of %d: %w", n, len(want), err)
		}
		n++
	}
	if n < len(want) {
		return fmt.Errorf("%d rows, want %d", n, len(want))
	}
	return nil
}

// row compares one row, and the ways to read a part of a value on one column of it.
func (c *comparison) row(row *sqlitefile.Row, want []judge.Value, stored func(int) bool) error {
	got, err := ours.AppendRow(nil, row, stored)
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d values, want %d", len(got), len(want))
	}
	for i := range got {
		if !got[i].Equal(want[i]) {
			return fmt.Errorf("value %d is %v, want %v", i, got[i], want[i])
		}
	}
	if len(got) == row.Len() {
		return c.part(row, c.rng.IntN(len(got)), want)
	}
	return nil
}

// part reads a stretch of one value.
func (c *comparison) part(row *sqlitefile.Row, i int, want []judge.Value) error {
	whole := want[i].Bytes
	size, err := row.Size(i)
	if err != nil || size != int64(len(whole)) {
		return fmt.Errorf("size of value %d is %d (%v), want %d", i, size, err, len(whole))
	}
	if size == 0 {
		return nil
	}
	from := c.rng.IntN(len(whole))
	p := make([]byte, c.rng.IntN(len(whole)-from)+1)
	n, err := row.ReadAt(i, p, int64(from))
	if err != nil || n != len(p) || string(p) != string(whole[from:from+n]) {
		return fmt.Errorf("part %d+%d of value %d is %.20x (%d, %v), want %.20x", from, len(p), i, p[:n], n, err, whole[from:from+len(p)])
	}
	return nil
}

// gets reads every row by its rowid, and looks for neighbours that are not there.
func (c *comparison) gets(et sqlitefile.Table, t *table) error {
	for i, id := range t.rowids {
		row, ok, err := et.Get(id)
		if err != nil || !ok || row.Rowid() != id {
			return fmt.Errorf("get %d: %v, %v", id, ok, err)
		}
		if err := c.row(&row, t.rows[i], t.stored); err != nil {
			return fmt.Errorf("get %d: %w", id, err)
		}
		for _, near := range []int64{id - 1, id + 1} {
			_, want := slices.BinarySearch(t.rowids, near)
			if _, ok, err := et.Get(near); ok != want || err != nil {
				return fmt.Errorf("get %d: %v, want %v, %v", near, ok, want, err)
			}
		}
	}
	if _, ok, err := et.Get(7); err != nil || ok != slices.Contains(t.rowids, 7) {
		return fmt.Errorf("get 7: %v, %v", ok, err)
	}
	return nil
}

// ranges reads stretches of a table, and moves a cursor about.
func (c *comparison) ranges(et sqlitefile.Table, t *table) error {
	bound := func() int64 {
		if len(t.rowids) == 0 || c.rng.IntN(4) == 0 {
			return c.integer()
		}
		return t.rowids[c.rng.IntN(len(t.rowids))] + int64(c.rng.IntN(3)) - 1
	}
	bounds := [][2]int64{{math.MinInt64, math.MaxInt64}, {math.MaxInt64, math.MinInt64}, {5, 4}}
	for range 12 {
		bounds = append(bounds, [2]int64{bound(), bound()})
	}
	for _, b := range bounds {
		lo, _ := slices.BinarySearch(t.rowids, b[0])
		hi, in := slices.BinarySearch(t.rowids, b[1])
		if in {
			hi++
		}
		hi = max(hi, lo)
		if err := c.rows(et.Range(b[0], b[1]), t.rows[lo:hi], t.rowids[lo:hi], t.stored); err != nil {
			return fmt.Errorf("range %d to %d: %w", b[0], b[1], err)
		}
		if err := c.seek(et, t, b[0], lo); err != nil {
			return fmt.Errorf("seek %d: %w", b[0], err)
		}
	}
	return nil
}

// seek moves a cursor to a rowid, and from there some steps to and fro.
func (c *comparison) seek(et sqlitefile.Table, t *table, rowid int64, at int) error {
	cur := et.Cursor()
	ok, err := cur.SeekRowid(rowid)
	for step := 0; ; step++ {
		if err != nil {
			return err
		}
		if want := at >= 0 && at < len(t.rowids); ok != want {
			return fmt.Errorf("step %d: %v, want %v", step, ok, want)
		}
		if !ok || step == 8 {
			return nil
		}
		row, err := cur.Row()
		if err != nil || row.Rowid() != t.rowids[at] {
			return fmt.Errorf("step %d: rowid %d, want %d, %w", step, row.Rowid(), t.rowids[at], err)
		}
		if c.rng.IntN(2) == 0 {
			ok, err = cur.Next()
			at++
		} else {
			ok, err = cur.Prev()
			at--
		}
		if err != nil {
			return err
		}
	}
}
