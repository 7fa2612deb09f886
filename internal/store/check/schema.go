package check

import (
	"fmt"
	"slices"
	"sync"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/store"
)

// An Object is a row of sqlite_schema.
type Object struct {
	Type, Name, Table string
	SQL               string // "" for the index of a constraint
}

// Additions returns a line, with the way out, for each object that other programs have added to the
// tables of a volume and that only SQLite maintains. For example, a trigger. Further columns that
// have a constant default, or may be NULL, and indexes that are not unique do no harm.
func Additions(objects []Object) (found []string) {
	for _, o := range objects {
		for _, what := range additions(&o) {
			found = append(found, what+"; drop it, or write with SQLite")
		}
	}
	return found
}

// ownTables are the tables of a volume as docs/reference/format.md has them, by name.
var ownTables = sync.OnceValue(func() map[string]*ddl.Table {
	tables := make(map[string]*ddl.Table)
	for _, sql := range store.Schema {
		if t, err := ddl.ParseTable(sql); err == nil { // and not the view
			tables[t.Name] = t
		}
	}
	return tables
})

func additions(o *Object) []string {
	own := ownTables()[ddl.Fold(o.Table)]
	switch {
	case o.Type == "table":
		return tableAdditions(o, own)
	case own == nil || o.SQL == "":
		return nil
	case o.Type == "trigger" && !store.IsOwnTrigger(o.SQL):
		return []string{fmt.Sprintf("table %s has the trigger %q", own.Name, o.Name)}
	case o.Type == "index":
		return indexAdditions(o, own)
	}
	return nil
}

// tableAdditions looks at a table, which does not belong to a volume if own is nil.
func tableAdditions(o *Object, own *ddl.Table) (found []string) {
	t, err := ddl.ParseTable(o.SQL)
	switch {
	case err != nil && own != nil:
		return []string{fmt.Sprintf("table %s is one that only SQLite understands: %v", own.Name, err)}
	case err != nil:
		return nil
	case own == nil:
		return parents(t)
	}
	has := func(format string, args ...any) {
		found = append(found, "table "+own.Name+" has "+fmt.Sprintf(format, args...))
	}
	if len(t.Checks) > 0 {
		has("a CHECK constraint")
	}
	if len(t.Uniques) > len(own.Uniques) {
		has("a further UNIQUE constraint")
	}
	if len(t.ForeignKeys) > 0 {
		has("a foreign key")
	}
	if t.RowidAlias != own.RowidAlias || t.WithoutRowid != own.WithoutRowid || !slices.EqualFunc(t.PrimaryKey, own.PrimaryKey, sameTerm) {
		has("another primary key")
	}
	for i := range t.Columns {
		columnAdditions(&t.Columns[i], i >= len(own.Columns), has)
	}
	return found
}

// sameTerm reports whether two terms of primary keys sort alike.
func sameTerm(a, b ddl.IndexedColumn) bool {
	return a.Column == b.Column && ddl.EqualFold(a.Collation, b.Collation) && a.Desc == b.Desc
}

// columnAdditions looks at one column.
func columnAdditions(c *ddl.Column, further bool, has func(format string, args ...any)) {
	switch {
	case c.Generated != nil:
		has("the generated column %q", c.Name)
	case !further:
	case c.Default.Kind == ddl.DefaultExpr:
		has("the column %q with an expression as its default", c.Name)
	case c.NotNull && c.Default.IsNull():
		has("the column %q, which may not be NULL and has no default", c.Name)
	}
}

// parents looks for references of another table to tables of a volume.
func parents(t *ddl.Table) (found []string) {
	for _, f := range t.ForeignKeys {
		if own := ownTables()[ddl.Fold(f.Table)]; own != nil {
			found = append(found, fmt.Sprintf("table %s has the foreign key of table %q to it", own.Name, t.Name))
		}
	}
	return found
}

func indexAdditions(o *Object, own *ddl.Table) []string {
	why := ""
	x, err := ddl.ParseIndex(o.SQL)
	switch {
	case err != nil:
		why = "which only SQLite understands"
	case x.Unique:
		why = "which is UNIQUE"
	case x.Where != "":
		why = "which is partial"
	case slices.ContainsFunc(x.Columns, func(c ddl.IndexedColumn) bool { return c.Name == "" }):
		why = "which is on an expression"
	case slices.ContainsFunc(x.Columns, func(c ddl.IndexedColumn) bool { return !builtIn(c.Collation) }):
		why = "which has a collation of somebody's own"
	default:
		return nil
	}
	return []string{fmt.Sprintf("table %s has the index %q, %s", own.Name, o.Name, why)}
}

// builtIn reports whether every SQLite has a collation; "" means the column's.
func builtIn(collation string) bool {
	return slices.ContainsFunc([]string{"", "BINARY", "NOCASE", "RTRIM"}, func(name string) bool { return ddl.EqualFold(collation, name) })
}
