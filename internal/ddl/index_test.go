package ddl

import "testing"

func mustIndex(t testing.TB, sql string) *Index {
	t.Helper()
	x, err := ParseIndex(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return x
}

// TestStoredColumns pins the records of indexes on a table with rowids and on one without.
func TestStoredColumns(t *testing.T) {
	t.Parallel()
	rowid := mustTable(t, "CREATE TABLE t(a, b TEXT COLLATE nocase, c INTEGER PRIMARY KEY, [desc], [end])")
	without := mustTable(t, "CREATE TABLE t(a, b TEXT COLLATE nocase, c, PRIMARY KEY(b, a DESC)) WITHOUT ROWID")
	for _, c := range []struct {
		table       *Table
		terms, want string
	}{
		{rowid, "a", "0,rowid"},
		{rowid, "B desc, A asc", "1/nocase-,0,rowid"},
		{rowid, `"a", [a], 'a', (a), ((a) COLLATE rtrim)`, "0,0,0,0,0/rtrim,rowid"},
		{rowid, "c, b COLLATE binary", "2,1,rowid"},
		{rowid, "'b' COLLATE rtrim, 'b' COLLATE rtrim COLLATE nocase", "1/rtrim,'b' COLLATE rtrim COLLATE nocase/nocase,rowid"},
		{rowid, "b COLLATE rtrim COLLATE \"NoCase\"", "1/NoCase,rowid"},
		{rowid, "desc desc, end, desc asc", "3-,4,3,rowid"},
		{rowid, `"missing", true, FALSE COLLATE nocase`, `"missing",true,FALSE COLLATE nocase/nocase,rowid`},
		{rowid, "-a COLLATE nocase, NOT a COLLATE nocase, a || b COLLATE nocase DESC", "-a COLLATE nocase/nocase,NOT a COLLATE nocase,a || b COLLATE nocase-,rowid"},
		{rowid, "a AND b ISNULL COLLATE nocase, a ISNULL COLLATE nocase", "a AND b ISNULL COLLATE nocase,a ISNULL COLLATE nocase/nocase,rowid"},
		{rowid, "lower(a), (a, b), a + 1 DESC", "lower(a),(a, b),a + 1-,rowid"},
		{without, "c", "2,1/nocase,0-"},
		{without, "a, c", "0,2,1/nocase"},
		{without, "b, a", "1/nocase,0"},
		{without, "b COLLATE binary, a COLLATE nocase", "1,0/nocase,1/nocase,0-"},
	} {
		x := mustIndex(t, "CREATE INDEX i ON t("+c.terms+")")
		for range 2 { // Resolve may be called again
			stored, err := x.StoredColumns(c.table)
			if err != nil {
				t.Errorf("%s: %v", c.terms, err)
			} else if got := terms(stored); got != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.terms, got, c.want)
			}
		}
	}
}

func TestIndex(t *testing.T) {
	t.Parallel()
	x := mustIndex(t, "CREATE UNIQUE INDEX IF NOT EXISTS main.\"i j\" ON 't'(a) WHERE a > 'x)' AND b ; ")
	if x.Name != "i j" || x.Schema != "main" || x.Table != "t" || !x.Unique || x.Where != "a > 'x)' AND b" {
		t.Errorf("%+v", x)
	}
	if x.Columns[0].Column != Expression || x.Columns[0].Name != "a" || x.Columns[0].Collation != "" {
		t.Errorf("before Resolve: %+v", x.Columns[0])
	}
}

// TestResolveMissing wants an error that says which name the table does not have, and where.
func TestResolveMissing(t *testing.T) {
	t.Parallel()
	table := mustTable(t, "CREATE TABLE t(a)")
	for _, c := range []struct{ terms, want string }{
		{"a, b", `SQL: no such column: b (at byte 23)`},
		{"'b'", `SQL: no such column: b (at byte 20)`},
		{"[true]", `SQL: no such column: true (at byte 20)`},
		{"rowid", `SQL: no such column: rowid (at byte 20)`},
	} {
		err := mustIndex(t, "CREATE INDEX i ON t("+c.terms+")").Resolve(table)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.terms, err, c.want)
		}
	}
}
