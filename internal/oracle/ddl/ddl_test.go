package ddl

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/ddl"
)

// seeds is how many statements of each kind the generator makes.
var seeds = flag.Uint64("seeds", 3000, "number of generated statements of each kind")

// TestHandmade compares how both read the statements in handmade_test.go.
func TestHandmade(t *testing.T) {
	t.Parallel()
	for _, stmt := range handmade {
		compare(t, stmt)
	}
}

// TestHandmadeIndexes compares how both read the indexes in handmade_test.go on each of the tables
// there.
func TestHandmadeIndexes(t *testing.T) {
	t.Parallel()
	for _, table := range bases {
		for _, stmt := range indexes {
			compareIndex(t, table, stmt)
		}
	}
}

// TestOthers compares which views, triggers and virtual tables both accept, their names, and how
// they are stored.
func TestOthers(t *testing.T) {
	t.Parallel()
	for _, stmt := range others {
		compareOther(t, stmt)
	}
}

func compareOther(t *testing.T, stmt string) {
	t.Helper()
	j := newJudge(t)
	defer j.close()
	j.must("CREATE TABLE t(a, b)")
	theirs := j.exec(stmt)
	s, ours := ddl.Parse(stmt)
	if theirs == nil && ours == nil {
		same(t, stmt, "sqlite_schema", j.rows(`SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name IN ('v', 'r', 'i', 'i j')
			UNION ALL SELECT type, name, tbl_name, sql FROM sqlite_temp_schema`), []string{row(s)})
		return
	}
	agree(t, stmt, theirs, ours)
}

// TestGenerated compares how both read statements made at random, whole and damaged.
func TestGenerated(t *testing.T) {
	t.Parallel()
	accepted, rejected := 0, 0
	for seed := range *seeds {
		g := newGenerator(seed)
		stmt := g.table()
		if seed%3 == 0 {
			stmt = g.damage(stmt)
		}
		if compare(t, stmt) {
			accepted++
		} else {
			rejected++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("SQLite accepted %d statements and rejected %d", accepted, rejected)
}

// TestGeneratedIndexes compares how both read indexes made at random.
func TestGeneratedIndexes(t *testing.T) {
	t.Parallel()
	accepted := 0
	for seed := range *seeds {
		g := newGenerator(seed)
		table := bases[seed%uint64(len(bases))]
		stmt := g.index()
		if seed%3 == 0 {
			stmt = g.damage(stmt)
		}
		if compareIndex(t, table, stmt) {
			accepted++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("SQLite accepted %d indexes", accepted)
}

// compare runs a CREATE TABLE on both sides and reports whether SQLite accepts it.
func compare(t *testing.T, stmt string) bool {
	t.Helper()
	j := newJudge(t)
	defer j.close()
	theirs := j.exec(stmt)
	table, ours := parse(stmt)
	if !agree(t, stmt, theirs, ours) || theirs != nil || ours != nil {
		return theirs == nil
	}
	stored := j.one(`SELECT sql FROM sqlite_schema WHERE name = ? UNION ALL SELECT sql FROM sqlite_temp_schema WHERE name = ?`,
		table.Name, table.Name)
	if table.SQL() != stored {
		t.Errorf("%q\n  is stored as %q\n  we say       %q", stmt, stored, table.SQL())
	}
	again, err := ddl.ParseTable(stored)
	if err != nil {
		t.Errorf("%q, as stored: %v", stored, err)
		return true
	}
	if table.Temp || table.Schema == "temp" {
		return true
	}
	compareTable(t, j, again, stmt)
	return true
}

func parse(stmt string) (*ddl.Table, error) {
	s, err := ddl.Parse(stmt)
	if err != nil {
		return nil, err
	}
	if t, ok := s.(*ddl.Table); ok {
		return t, nil
	}
	return nil, fmt.Errorf("parsed as %T", s)
}

// compareTable compares the declaration of the table.
func compareTable(t *testing.T, j *judge, table *ddl.Table, stmt string) {
	t.Helper()
	name := table.Name
	same(t, stmt, "columns", j.columns(name), columns(table))
	same(t, stmt, "indexes", j.storedIndexes(name), storedIndexes(table))
	same(t, stmt, "foreign keys", j.foreignKeys(name), foreignKeys(table))
	same(t, stmt, "flags", []string{j.flags(name)}, []string{flags(table)})
	primary := j.primaryIndex(name)
	switch {
	case table.WithoutRowid:
		same(t, stmt, "tree", []string{j.index(name, primary)}, []string{fmt.Sprint(primary, "|pk|1|0", tree(table))})
	case (table.RowidAlias >= 0) != (primary == "" && table.PrimaryKey != nil):
		t.Errorf("%q: rowid alias is column %d, primary index is %q", stmt, table.RowidAlias, primary)
	}
}

func same(t *testing.T, stmt, what string, theirs, ours []string) {
	t.Helper()
	if !slices.Equal(theirs, ours) {
		t.Errorf("%q: %s\n  SQLite %q\n  we     %q", stmt, what, theirs, ours)
	}
}

// compareIndex runs a CREATE INDEX on a table and reports whether SQLite accepts it.
func compareIndex(t *testing.T, table, stmt string) bool {
	t.Helper()
	j := newJudge(t)
	defer j.close()
	j.must(table)
	tab, err := ddl.ParseTable(table)
	if err != nil {
		t.Fatal(err)
	}
	theirs := j.exec(stmt)
	x, got, ours := parseIndex(tab, stmt)
	if !agree(t, stmt, theirs, ours) || theirs != nil || ours != nil {
		return theirs == nil
	}
	stored := j.one(`SELECT sql FROM sqlite_schema WHERE name = ?`, x.Name)
	if x.SQL() != stored {
		t.Errorf("%q\n  is stored as %q\n  we say       %q", stmt, stored, x.SQL())
	}
	if want := j.index(x.Table, x.Name); got != want {
		t.Errorf("%s\n%q:\n  SQLite %s\n  we     %s", table, stmt, want, got)
	}
	return true
}

func parseIndex(table *ddl.Table, stmt string) (*ddl.Index, string, error) {
	s, err := ddl.Parse(stmt)
	if err != nil {
		return nil, "", err
	}
	x, ok := s.(*ddl.Index)
	if !ok {
		return nil, "", fmt.Errorf("parsed as %T", s)
	}
	if !ddl.EqualFold(x.Table, table.Name) {
		return nil, "", fmt.Errorf("index on %s", x.Table)
	}
	got, err := index(table, x)
	return x, got, err
}

// agree checks that both accept or both reject a statement.
func agree(t *testing.T, stmt string, theirs, ours error) bool {
	t.Helper()
	switch {
	case theirs == nil && ours != nil:
		t.Errorf("%q\n  accepted by SQLite, not by us: %v", stmt, ours)
		return false
	case theirs != nil && ours == nil && !beyond(theirs) && !opaque(stmt):
		t.Errorf("%q\n  accepted by us, not by SQLite: %v", stmt, theirs)
		return false
	}
	return true
}

// opaque reports whether a statement has something that internal/ddl does not look into: a SELECT,
// the definition of a window; or parameters, which SQLite no longer lets into a schema.
func opaque(stmt string) bool {
	return strings.Contains(stmt, "SELECT") || strings.Contains(stmt, "OVER") || strings.ContainsAny(stmt, "?:")
}

// outOfReach holds the complaints that do not concern the parser: names within expressions,
// functions, collations, other objects in the database.
var outOfReach = []string{
	"no such column", "no such function", "no such collation", "no such table", "wrong number of arguments",
	"subqueries prohibited", "prohibited in", "already exists", "already another", "already a table", "misuse of",
	"row value", "unknown database", "reserved for internal use", "may not be used", "must be unqualified",
	"non-deterministic", "columns but", "may not be indexed", "RAISE() may only", "generated column loop",
	"sub-select returns", "not an error", "ORDER BY may not", "FILTER may not", "DISTINCT", "window function", "second argument to",
	"syntax error after column name", // only for new statements: a schema may have it
	"unknown function", "a JOIN clause", "OVER clause", "in index expressions",
}

func beyond(err error) bool {
	if strings.Contains(err.Error(), "expressions prohibited in PRIMARY KEY") {
		return false
	}
	for _, s := range outOfReach {
		if strings.Contains(err.Error(), s) {
			return true
		}
	}
	return false
}
