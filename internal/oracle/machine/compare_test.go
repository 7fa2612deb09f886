package machine

import (
	"fmt"
	"strconv"
	"strings"
)

// totals count the work of a run, and the pages at each comparison.
type totals struct {
	ops, comparisons, transactions int64
	ours, theirs                   usage
}

// usage is how many pages databases took, and how many of these were free.
type usage struct{ pages, free int64 }

func (u usage) used() int64 { return u.pages - u.free }

func (t *totals) add(o totals) {
	t.ops += o.ops
	t.comparisons += o.comparisons
	t.transactions += o.transactions
	t.ours.pages += o.ours.pages
	t.ours.free += o.ours.free
	t.theirs.pages += o.theirs.pages
	t.theirs.free += o.theirs.free
}

func (t *totals) String() string {
	return fmt.Sprintf("%d operations, %d transactions, %d comparisons; pages in use %.4f of those of C, pages in all %.4f",
		t.ops, t.transactions, t.comparisons, float64(t.ours.used())/float64(t.theirs.used()), float64(t.ours.pages)/float64(t.theirs.pages))
}

// compare lets C read the database in the file next to its own, and check it. No transaction must
// be open.
func (m *machine) compare() error {
	m.note("compare")
	c := m.model.conn
	if err := c.Exec("ATTACH ? AS ours", m.path()); err != nil {
		return err
	}
	err := m.compareAttached()
	if derr := c.Exec("DETACH ours"); err == nil {
		err = derr
	}
	if err != nil {
		return err
	}
	m.totals.comparisons++
	if m.unused.high > 0 {
		return nil
	}
	report, err := m.ours.db.Check(ctx, nil)
	if err == nil && !report.OK() {
		err = fmt.Errorf("Check: %v", report.Problems)
	}
	return err
}

func (m *machine) compareAttached() error {
	if m.unused.high == 0 {
		if err := wantOK(m.model.conn, "ours"); err != nil {
			return err
		}
	}
	if err := m.same("sqlite_schema", []string{"type", "name", "tbl_name", "sql"}); err != nil {
		return err
	}
	counted := false
	for _, t := range m.schema {
		var exprs []string
		if !t.keyed() {
			exprs = append(exprs, "rowid")
		}
		for _, x := range t.columns {
			exprs = append(exprs, x.name)
		}
		if err := m.same(t.name, exprs); err != nil {
			return err
		}
		counted = counted || t.counted
	}
	if counted {
		if err := m.same("sqlite_sequence", []string{"rowid", "name", "seq"}); err != nil {
			return err
		}
	}
	if m.turns {
		if err := m.compareForeign(); err != nil {
			return err
		}
	}
	return m.compareSizes()
}

// same wants a table to have the same rows in both databases: values, types and bytes.
func (m *machine) same(table string, exprs []string) error {
	list := ""
	for _, e := range exprs {
		list += fmt.Sprintf(", typeof(%s), %s COLLATE BINARY", e, e)
	}
	sql := fmt.Sprintf("SELECT (SELECT count(*) FROM ours.%[1]s) - (SELECT count(*) FROM main.%[1]s), (SELECT count(*) FROM (SELECT %[2]s FROM main.%[1]s EXCEPT SELECT %[2]s FROM ours.%[1]s))", table, list[2:])
	for row, err := range m.model.conn.Rows(ctx, sql) {
		if err != nil {
			return err
		}
		if row[0] != int64(0) || row[1] != int64(0) {
			return fmt.Errorf("%s: %v rows more than C has, and %v of C's rows are not there", table, row[0], row[1])
		}
	}
	return nil
}

// compareSizes compares how many pages are in use.
func (m *machine) compareSizes() error {
	var n [4]int64
	for i, sql := range []string{"ours.page_count", "ours.freelist_count", "main.page_count", "main.freelist_count"} {
		got, err := m.model.conn.Strings(ctx, "PRAGMA "+sql)
		if err != nil {
			return err
		}
		if n[i], err = strconv.ParseInt(strings.Join(got, ""), 10, 64); err != nil {
			return err
		}
	}
	ours, theirs := usage{n[0], n[1]}, usage{n[2], n[3]}
	m.note("%v, C %v", ours, theirs)
	if m.smaller {
		return nil
	}
	m.totals.ours.pages += ours.pages
	m.totals.ours.free += ours.free
	m.totals.theirs.pages += theirs.pages
	m.totals.theirs.free += theirs.free
	if ours.used() > theirs.used()+theirs.used()/8+8 {
		return fmt.Errorf("%d pages in use, C uses %d", ours.used(), theirs.used())
	}
	return nil
}
