package sqlitefile

import (
	"math"
	"slices"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// schema checks the b-tree of sqlite_schema and remembers the objects that it lists.
func (c *checker) schema() error {
	c.object = "sqlite_schema"
	var row contents
	everything := func(int, format.SerialType) bool { return true }
	_, _, err := c.walk(1, true, func(_ int64, p *storedPayload) error {
		ok, err := row.read(p, everything)
		if !ok {
			return err
		}
		o, ok := objectOf(row.values)
		if !ok {
			return c.problem(p.page, "a row that describes no table, index, view or trigger")
		}
		c.objects = append(c.objects, o)
		if row.cut { // it was too long to be read
			return nil
		}
		return c.statement(&o, p.page)
	})
	return err
}

// objectOf makes an Object of the values of a row.
func objectOf(values []record.Value) (o Object, ok bool) {
	if len(values) < 5 || values[0].Kind() != record.Text || values[1].Kind() != record.Text || values[3].Kind() == record.Null {
		return o, false
	}
	o = Object{values[0].Text(), values[1].Text(), values[2].Text(), rootOf(&values[3]), values[4].Text()}.asTaken()
	return o, o.Root != math.MaxUint32
}

// trees checks the b-trees of all tables and indexes: each table, then its indexes.
func (c *checker) trees() error {
	indexes := make(map[string][]Object) // by the folded name of their table
	for _, o := range c.objects {
		if o.Type == "index" {
			table := ddl.Fold(o.Table)
			if slices.Contains(indexes[table], o) && o.isAutoIndex() {
				continue // SQLite takes it once more
			}
			indexes[table] = append(indexes[table], o)
		}
	}
	seen := make(map[string]bool)
	for _, o := range c.objects {
		if err := c.checkName(o, seen); err != nil {
			return err
		}
		if o.Type != "table" {
			continue
		}
		if err := c.table(o, indexes[ddl.Fold(o.Name)]); err != nil {
			return err
		}
		delete(indexes, ddl.Fold(o.Name))
	}
	if err := c.strayIndexes(indexes); err != nil {
		return err
	}
	return c.largestRoot()
}

// checkName checks that no two tables, indexes and views share a name.
func (c *checker) checkName(o Object, seen map[string]bool) error {
	name := ddl.Fold(o.Name)
	if o.Type == "trigger" || o.isAutoIndex() || !seen[name] {
		seen[name] = seen[name] || o.Type != "trigger"
		return nil
	}
	c.object = "sqlite_schema"
	return c.problemf(1, "the name %s is used twice", o.Name)
}

// strayIndexes checks the pages of the indexes that belong to no table, in the order of the schema.
func (c *checker) strayIndexes(indexes map[string][]Object) error {
	for _, o := range c.objects {
		if o.Type != "index" || indexes[ddl.Fold(o.Table)] == nil {
			continue
		}
		c.object = o.Name
		if err := c.problemf(0, "is an index of table %s, which is not there", o.Table); err != nil {
			return err
		}
		if err := c.bareIndex(o); err != nil {
			return err
		}
	}
	return nil
}

// largestRoot checks the header of an auto-vacuum database.
func (c *checker) largestRoot() error {
	if !c.rx.pager.Header.AutoVacuum() {
		return nil
	}
	c.object = ""
	root := uint32(1) // that of sqlite_schema
	for _, o := range c.objects {
		if o.Type == "table" || o.Type == "index" {
			root = max(root, o.Root)
		}
	}
	if len(c.objects) > 0 && root != c.rx.pager.Header.LargestRoot {
		return c.problemf(1, "the largest root page is %d, the header says %d", root, c.rx.pager.Header.LargestRoot)
	}
	return nil
}

// bareTable checks the pages of a table whose definition is beyond this package.
func (c *checker) bareTable(o Object) error {
	c.report.Tables++
	rows, _, err := c.walkBare(o.Root)
	c.report.Rows += rows
	return err
}

// bareIndex is bareTable for an index.
func (c *checker) bareIndex(o Object) error {
	c.report.Indexes++
	entries, _, err := c.walkBare(o.Root)
	c.report.Entries += entries
	return err
}

// walkBare checks a b-tree if only its root is known.
func (c *checker) walkBare(root uint32) (entries uint64, sound bool, err error) {
	table := false
	if root != 0 && root <= c.rx.pager.PageCount {
		data, ok, err := c.page(root)
		if !ok {
			return 0, false, err
		}
		table = format.PageKind(data[format.PageHeaderAt(root)]).Table()
	}
	var r contents
	nothing := func(int, format.SerialType) bool { return false }
	return c.walk(root, table, func(_ int64, p *storedPayload) error {
		_, err := r.read(p, nothing)
		return err
	})
}
