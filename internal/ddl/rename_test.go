package ddl

import (
	"errors"
	"testing"
)

// TestRenaming renames a table or a column in statements of its schema.
func TestRenaming(t *testing.T) {
	t.Parallel()
	const create = `CREATE TABLE t(a INTEGER PRIMARY KEY, "b" TEXT, c AS ("b" || "x"), CHECK (rowid > 0 AND t.b <> 'b'), FOREIGN KEY (b) REFERENCES T(a))`
	for _, c := range []struct {
		column, to  string // no column for the table
		quoted      bool
		create      string
		want        string
		wantIndex   string
		wantForeign string
	}{
		{
			"", `u"v`, true, create,
			`CREATE TABLE "u""v"(a INTEGER PRIMARY KEY, "b" TEXT, c AS ("b" || "x"), CHECK (rowid > 0 AND "u""v".b <> 'b'), FOREIGN KEY (b) REFERENCES "u""v"(a))`,
			`CREATE INDEX i ON "u""v"(b, a+1) WHERE "u""v".a`, `CREATE TABLE o(x, y REFERENCES "u""v"(b), z REFERENCES u(b))`,
		},
		{
			"b", "d", false, create,
			`CREATE TABLE t(a INTEGER PRIMARY KEY, "d" TEXT, c AS ("d" || 'x'), CHECK (rowid > 0 AND t.d <> 'b'), FOREIGN KEY (d) REFERENCES T(a))`,
			`CREATE INDEX i ON t(d, a+1) WHERE t.a`, `CREATE TABLE o(x, y REFERENCES t(d), z REFERENCES u(b))`,
		},
		{
			"a", "key", true, create,
			`CREATE TABLE t("key" INTEGER PRIMARY KEY, "b" TEXT, c AS ("b" || 'x'), CHECK ("key" > 0 AND t.b <> 'b'), FOREIGN KEY (b) REFERENCES T("key"))`,
			`CREATE INDEX i ON t(b, "key"+1) WHERE t."key"`, `CREATE TABLE o(x, y REFERENCES t(b), z REFERENCES u(b))`,
		},
	} {
		old, err := ParseTable(c.create)
		if err != nil {
			t.Fatal(err)
		}
		r := RenamingTable(old, c.to)
		if c.column != "" {
			r = RenamingColumn(old, old.ColumnIndex(c.column), c.to, c.quoted)
		}
		got, def, err := r.Table(c.create)
		if err != nil || got != c.want {
			t.Errorf("%s: %v, want\n%s", got, err, c.want)
			continue
		}
		if got, err = r.Index("CREATE INDEX i ON t(b, a+1) WHERE t.a", old, def); err != nil || got != c.wantIndex {
			t.Errorf("%s: %v, want\n%s", got, err, c.wantIndex)
		}
		if got, _, err = r.Table("CREATE TABLE o(x, y REFERENCES t(b), z REFERENCES u(b))"); err != nil || got != c.wantForeign {
			t.Errorf("%s: %v, want\n%s", got, err, c.wantForeign)
		}
	}
}

// TestRenamingRefused gives columns that cannot have another name.
func TestRenamingRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		create, to string // of the first column
		want       error  // nil for a *SyntaxError
	}{
		{"CREATE TABLE t(a, b)", "B", nil},
		{"CREATE TABLE t(a, CHECK (a > 0))", "case", nil},
		{"CREATE TABLE t(a, CHECK (a IN ()))", "b", ErrNames},
		{"CREATE TABLE t(a, CHECK (a IN (SELECT 1)))", "b", ErrNames},
		{"CREATE TABLE t(a, CHECK (count(*) OVER ()))", "b", ErrNames},
		{"CREATE TABLE t(a, CHECK (oid > 0))", "oid", ErrMeaning},
		{"CREATE TABLE t(a, CHECK (a > 0))", "current_time", ErrMeaning},
		{"CREATE TABLE t(a, b, CHECK (b IN (a)))", "true", ErrMeaning},
		{"CREATE TABLE t(a INTEGER PRIMARY KEY, UNIQUE (a)) WITHOUT ROWID", "b", ErrMissed},
		{"CREATE TABLE t(a INTEGER, UNIQUE (a), PRIMARY KEY (a))", "b", ErrMissed},
	} {
		old, err := ParseTable(c.create)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = RenamingColumn(old, 0, c.to, false).Table(c.create)
		if _, syntax := errors.AsType[*SyntaxError](err); !errors.Is(err, c.want) && (c.want != nil || !syntax) || err == nil {
			t.Errorf("%s, to %s: %v, want %v", c.create, c.to, err, c.want)
		}
	}
}
