package ddl

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// describe writes the storage of a table on one line: its columns, which of them is the rowid, its
// automatic indexes with the columns they store, and the order of the fields if it is not that of
// the columns.
func describe(t *Table) string {
	var b strings.Builder
	for _, c := range t.Columns {
		fmt.Fprintf(&b, "%s:%s:%s", c.Name, c.Type, c.Affinity)
		if c.NotNull {
			b.WriteString(":notnull")
		}
		if c.Collation != binary {
			b.WriteString(":" + c.Collation)
		}
		b.WriteString(" ")
	}
	fmt.Fprintf(&b, "rowid=%d", t.RowidAlias)
	for _, x := range t.AutoIndexes() {
		fmt.Fprintf(&b, " %s(%s)", strings.TrimPrefix(x.Name, "sqlite_autoindex_"), terms(x.StoredColumns(t)))
	}
	if order := t.StorageOrder(); t.WithoutRowid || len(order) != len(t.Columns) {
		fmt.Fprintf(&b, " order=%v", order)
	}
	return b.String()
}

// terms writes the terms of an index or key: column, collation if it is not BINARY, - if
// descending.
func terms(list []IndexedColumn) string {
	var out []string
	for _, c := range list {
		s := "rowid"
		switch {
		case c.Column >= 0:
			s = fmt.Sprint(c.Column)
		case c.Column == Expression:
			s = c.Expr
		}
		if !EqualFold(c.Collation, binary) {
			s += "/" + c.Collation
		}
		if c.Desc {
			s += "-"
		}
		out = append(out, s)
	}
	return strings.Join(out, ",")
}

func mustTable(t testing.TB, sql string) *Table {
	t.Helper()
	table, err := ParseTable(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return table
}

// TestStorage pins the facts that the engine needs to find a value: rowid, indexes, order. The
// oracle compares the same rules with SQLite on many more statements.
func TestStorage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sql, want string }{
		{"t(a)", "a::BLOB rowid=-1"},
		{"main.t(a integer primary key, b text not null unique collate nocase)", "a:INTEGER:INTEGER b:TEXT:TEXT:notnull:nocase rowid=0 t_1(1/nocase,rowid)"},
		{"t(a INTEGER PRIMARY KEY DESC)", "a:INTEGER:INTEGER rowid=-1 t_1(0-,rowid)"},
		{"t(a INTEGER, PRIMARY KEY(a DESC))", "a:INTEGER:INTEGER rowid=0"},
		{"t(a INT PRIMARY KEY)", "a:INT:INTEGER rowid=-1 t_1(0,rowid)"},
		{"t(a 'integer' PRIMARY KEY)", "a:INTEGER:INTEGER rowid=0"},
		{"t(a INTEGER UNIQUE PRIMARY KEY)", "a:INTEGER:INTEGER rowid=0 t_1(0,rowid)"},
		{"t(a, b, UNIQUE(a, b) UNIQUE(a, b DESC) UNIQUE(b, a) CONSTRAINT x)", "a::BLOB b::BLOB rowid=-1 t_1(0,1,rowid) t_2(1,0,rowid)"},
		{"t(a, UNIQUE(a), UNIQUE(a COLLATE nocase), PRIMARY KEY(a))", "a::BLOB rowid=-1 t_1(0,rowid) t_2(0/nocase,rowid)"},
		{"t(a, b, PRIMARY KEY(a, a, b))", "a::BLOB b::BLOB rowid=-1 t_1(0,0,1,rowid)"},
		{"e(p INTEGER, n TEXT, i INTEGER, PRIMARY KEY (p, n)) WITHOUT ROWID", "p:INTEGER:INTEGER:notnull n:TEXT:TEXT:notnull i:INTEGER:INTEGER rowid=-1 order=[0 1 2]"},
		{"t(a, b, c, PRIMARY KEY(c, a DESC, c), UNIQUE(b, a)) WITHOUT ROWID", "a::BLOB:notnull b::BLOB c::BLOB:notnull rowid=-1 t_2(1,0,2) order=[2 0 1]"},
		{"t(b UNIQUE, a INTEGER PRIMARY KEY) WITHOUT ROWID", "b::BLOB a:INTEGER:INTEGER:notnull rowid=-1 t_1(0,1) order=[1 0]"},
		{"t(a TEXT PRIMARY KEY, b UNIQUE) WITHOUT ROWID", "a:TEXT:TEXT:notnull b::BLOB rowid=-1 t_2(1,0) order=[0 1]"},
		{"t(a, b, PRIMARY KEY(a, a COLLATE nocase)) WITHOUT ROWID", "a::BLOB:notnull b::BLOB rowid=-1 order=[0 0 1]"},
		{"t(a, b AS (a), c AS (b) STORED, d UNIQUE)", "a::BLOB b::BLOB c::BLOB d::BLOB rowid=-1 t_1(3,rowid) order=[0 2 3]"},
		{"t(a, b AS (a), c PRIMARY KEY) WITHOUT ROWID", "a::BLOB b::BLOB c::BLOB:notnull rowid=-1 order=[2 0]"},
		{"t(a INT PRIMARY KEY, b ANY, c ANY COLLATE rtrim UNIQUE) STRICT", "a:INT:INTEGER:notnull b:ANY:BLOB c:ANY:BLOB:rtrim rowid=-1 t_1(0,rowid) t_2(2/rtrim,rowid)"},
		{"t(a ANY)", "a:ANY:NUMERIC rowid=-1"},
		{`t(a "", b [x y](3), c GENERATED ALWAYS, d VARYING /*INT*/ CHAR)`, "a::NUMERIC b:x y](3:NUMERIC c::BLOB d:VARYING /*INT*/ CHAR:INTEGER rowid=-1"},
		{`"a b"('x' UNIQUE)`, "x::BLOB rowid=-1 a b_1(0,rowid)"},
	} {
		if got := describe(mustTable(t, "CREATE TABLE "+c.sql)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}

// TestPrimaryKey pins the terms by which a WITHOUT ROWID table is sorted.
func TestPrimaryKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sql, want string }{
		{"t(a, b, PRIMARY KEY(b DESC, a COLLATE nocase, b)) WITHOUT ROWID", "1-,0/nocase"},
		{"t(a INTEGER COLLATE rtrim, PRIMARY KEY(a COLLATE nocase DESC)) WITHOUT ROWID", "0/rtrim-"},
		{"t(a, UNIQUE(a DESC), PRIMARY KEY(a)) WITHOUT ROWID", "0-"},
		{"t(a INTEGER PRIMARY KEY DESC) WITHOUT ROWID", "0-"},
		{"t(a, b, PRIMARY KEY(b, b))", "1,1"},
		{"t(a PRIMARY KEY COLLATE nocase)", "0/nocase"},
		{"t(a)", ""},
	} {
		if got := terms(mustTable(t, "CREATE TABLE "+c.sql).PrimaryKey); got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
}

// TestNames pins the names of things.
func TestNames(t *testing.T) {
	t.Parallel()
	table := mustTable(t, `CREATE TEMP TABLE IF NOT EXISTS "da""ta" . [my t](
		'it''s', left, "key" CONSTRAINT one NOT NULL CHECK ( "key" > 0 ) CONSTRAINT two,
		CHECK(left), CONSTRAINT three UNIQUE(left) CHECK(1), CHECK(2)) -- end`)
	if table.Schema != `da"ta` || table.Name != "my t" || !table.Temp {
		t.Errorf("table %q in %q, temp %t", table.Name, table.Schema, table.Temp)
	}
	var names []string
	for _, c := range table.Columns {
		names = append(names, c.Name)
	}
	if want := []string{"it's", "left", "key"}; !slices.Equal(names, want) {
		t.Errorf("columns %q, want %q", names, want)
	}
	want := []Check{{"one", `"key" > 0`}, {"two", "left"}, {"three", "1"}, {"", "2"}}
	if !slices.Equal(table.Checks, want) {
		t.Errorf("checks %q, want %q", table.Checks, want)
	}
	if table.Uniques[0].Name != "three" || table.ColumnIndex("LEFT") != 1 || table.ColumnIndex("right") != -1 {
		t.Errorf("unique %q, columns %d and %d", table.Uniques[0].Name, table.ColumnIndex("LEFT"), table.ColumnIndex("right"))
	}
}

// TestForeignKeys pins all parts of the clause.
func TestForeignKeys(t *testing.T) {
	t.Parallel()
	table := mustTable(t, `CREATE TABLE t(a REFERENCES p ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED, b,
		CONSTRAINT f FOREIGN KEY (b, a) REFERENCES "q r"(x COLLATE nocase DESC, y) MATCH full ON UPDATE CASCADE ON INSERT RESTRICT
		FOREIGN KEY (b) REFERENCES s ON DELETE RESTRICT ON UPDATE SET DEFAULT ON DELETE NO ACTION NOT DEFERRABLE INITIALLY DEFERRED)`)
	want := []ForeignKey{
		{Columns: []int{0}, Table: "p", OnDelete: syntax.ActionSetNull, Deferred: true},
		{Name: "f", Columns: []int{1, 0}, Table: "q r", Parents: []string{"x", "y"}, OnUpdate: syntax.ActionCascade},
		{Name: "f", Columns: []int{1}, Table: "s", OnUpdate: syntax.ActionSetDefault},
	}
	if !reflect.DeepEqual(table.ForeignKeys, want) {
		t.Errorf("got  %+v\nwant %+v", table.ForeignKeys, want)
	}
}

// TestConflicts pins which ON CONFLICT clause holds.
func TestConflicts(t *testing.T) {
	t.Parallel()
	table := mustTable(t, `CREATE TABLE t(a NOT NULL ON CONFLICT FAIL UNIQUE, b PRIMARY KEY ON CONFLICT ROLLBACK,
		UNIQUE(a) ON CONFLICT IGNORE, UNIQUE(b), UNIQUE(a, b) ON CONFLICT REPLACE, UNIQUE(b, a) ON CONFLICT ABORT)`)
	var got []syntax.Conflict
	for _, x := range table.AutoIndexes() {
		got = append(got, x.OnConflict)
	}
	want := []syntax.Conflict{syntax.ConflictIgnore, syntax.ConflictRollback, syntax.ConflictReplace, syntax.ConflictAbort}
	if !slices.Equal(got, want) || table.Columns[0].NotNullConflict != syntax.ConflictFail {
		t.Errorf("indexes %d, want %d; NOT NULL %d, want %d", got, want, table.Columns[0].NotNullConflict, syntax.ConflictFail)
	}
}

// TestStoredText pins the text that sqlite_schema holds for a statement.
func TestStoredText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sql, want string }{
		{"create temp table if not exists temp . t (a) ; ", "CREATE TABLE t (a)"},
		{"CREATE TABLE t(a PRIMARY KEY) without rowid /* x */ ;", "CREATE TABLE t(a PRIMARY KEY) without rowid /* x */ "},
		{"create unique index main.i on t(a) -- x", "CREATE UNIQUE INDEX i on t(a) -- x"},
		{"create index i on t(a) where a > 1;", "CREATE INDEX i on t(a) where a > 1"},
		{"create view if not exists v as select 1  ", "CREATE VIEW v as select 1"},
		{"create virtual table v using m(a , (b,c) d,, e) ;", "CREATE VIRTUAL TABLE v using m(a , (b,c) d,, e)"},
		{"create trigger if not exists main.r insert on t begin select 1; end ; ", "CREATE TRIGGER r insert on t begin select 1; end"},
	} {
		s, err := Parse(c.sql)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
		} else if s.SQL() != c.want {
			t.Errorf("%s is stored as %q, want %q", c.sql, s.SQL(), c.want)
		}
	}
}

// TestOthers pins the facts about views, triggers and virtual tables.
func TestOthers(t *testing.T) {
	t.Parallel()
	v, err := ParseView("CREATE VIEW v(x, 'y') AS SELECT 1, 2 ;")
	if err != nil || !slices.Equal(v.Columns, []string{"x", "y"}) || v.Select != "SELECT 1, 2" || v.Name != "v" {
		t.Errorf("view %+v, %v", v, err)
	}
	r, err := parseAs[*Trigger]("CREATE TEMP TRIGGER s.r UPDATE OF a, b ON main.[t u] BEGIN SELECT ';END'; END", "CREATE TRIGGER")
	if err != nil || r.Name != "r" || r.Schema != "s" || r.Table != "t u" || !r.Temp {
		t.Errorf("trigger %+v, %v", r, err)
	}
	table := mustTable(t, "CREATE VIRTUAL TABLE v USING 'm'( a /* , */ 'b,' , , (c, d) ; e)")
	if want := []string{"a /* , */ 'b,'", "(c, d) ; e"}; table.Virtual.Module != "m" || !slices.Equal(table.Virtual.Args, want) {
		t.Errorf("virtual table %+q", table.Virtual)
	}
}
