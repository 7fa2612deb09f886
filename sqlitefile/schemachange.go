package sqlitefile

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/pager"
)

// A schemaChange is one statement at work on sqlite_schema.
//
// Its rows are read once, when the statement begins, and kept in step with the changes. commit
// gives the transaction its new schema.
type schemaChange struct {
	tx     *Tx
	rows   []schemaRow // in the order of the rowids
	tree   *btree.Tree // of sqlite_schema
	row    rowBuilder
	record []byte
}

// A schemaRow is a row of sqlite_schema.
type schemaRow struct {
	rowid int64
	Object
}

// Offsets of the header fields that a change of the schema changes.
const (
	headCookie       = 40
	headSchemaFormat = 44
	headEncoding     = 56
)

// currentSchemaFormat is the format of new schemas: the first in which DESC counts in indexes.
const currentSchemaFormat = 4

func (tx *Tx) changeSchema() (*schemaChange, error) {
	if err := tx.pages.BeginChange(); err != nil {
		return nil, err
	}
	c := &schemaChange{tx: tx, tree: btree.NewTable(tx.pages.Pages(), tx.writeState().ws, 1), row: newRowBuilder(schemaTable.ddl)}
	c.row.enc, c.row.alias = tx.pager.Header.Encoding, none
	for row, err := range (Table{&tx.Rx, &schemaTable}).All() {
		if err != nil {
			return nil, err
		}
		o, err := schemaObject(&row)
		if err != nil {
			return nil, err
		}
		c.rows = append(c.rows, schemaRow{row.rowid, o})
	}
	return c, nil
}

// find returns the object of a name, in any case of letters, that is of one of the types; nil if
// there is none.
func (c *schemaChange) find(name string, types ...string) *Object {
	for i := range c.rows {
		if o := &c.rows[i].Object; ddl.EqualFold(o.Name, name) && slices.Contains(types, o.Type) {
			return o
		}
	}
	return nil
}

// insert adds an object as the last one.
func (c *schemaChange) insert(o Object) error {
	rowid := int64(1)
	if n := len(c.rows); n > 0 {
		if rowid = c.rows[n-1].rowid + 1; rowid <= 0 {
			return fmt.Errorf("%w: sqlite_schema has used the last rowid", ErrFull)
		}
	}
	if err := c.load(rowid, &o); err != nil {
		return err
	}
	if _, err := c.tree.InsertRow(rowid, c.record); err != nil {
		return c.spoil(err)
	}
	c.rows = append(c.rows, schemaRow{rowid, o})
	return nil
}

// load makes the record of an object.
func (c *schemaChange) load(rowid int64, o *Object) (err error) {
	var sql any
	if o.SQL != "" {
		sql = o.SQL
	}
	values := []any{o.Type, o.Name, o.Table, int64(o.Root), sql}
	if err := c.row.load(rowid, values); err != nil {
		return err
	}
	c.record, err = c.row.record(c.record, []int{0, 1, 2, 3, 4}, values)
	return err
}

// remove deletes the objects that match and returns them.
func (c *schemaChange) remove(match func(o *Object) bool) (removed []Object, err error) {
	kept := c.rows[:0]
	for _, r := range c.rows {
		if !match(&r.Object) {
			kept = append(kept, r)
			continue
		}
		if _, err := c.tree.DeleteRow(r.rowid); err != nil {
			return nil, c.spoil(err)
		}
		removed = append(removed, r.Object)
	}
	c.rows = kept
	return removed, nil
}

// moveRoot gives the objects whose root is page from the root to.
func (c *schemaChange) moveRoot(from, to uint32) error {
	for i := range c.rows {
		r := &c.rows[i]
		if r.Root != from {
			continue
		}
		r.Root = to
		if err := c.store(r); err != nil {
			return err
		}
	}
	return nil
}

// store writes a row of the schema that has changed.
func (c *schemaChange) store(r *schemaRow) error {
	if err := c.load(r.rowid, &r.Object); err != nil {
		return err
	}
	if _, err := c.tree.ReplaceRow(r.rowid, c.record); err != nil {
		return c.spoil(err)
	}
	return nil
}

// spoil makes sure that a half changed tree is not committed.
func (c *schemaChange) spoil(err error) error {
	c.tx.pages.Spoil(err)
	return err
}

// prepare fixes the properties that a database gets with its first object.
func (c *schemaChange) prepare() error {
	h := &c.tx.pager.Header
	if h.SchemaFormat != 0 {
		return nil
	}
	page1, err := c.tx.pages.Pages().Writable(1)
	if err != nil {
		return err
	}
	h.SchemaFormat = currentSchemaFormat
	binary.BigEndian.PutUint32(page1[headSchemaFormat:], currentSchemaFormat)
	binary.BigEndian.PutUint32(page1[headEncoding:], uint32(h.Encoding))
	return nil
}

// commit counts the change in the header and gives the transaction its new schema.
func (c *schemaChange) commit() error {
	page1, err := c.tx.pages.Pages().Writable(1)
	if err != nil {
		return err
	}
	cookie := be32(page1[headCookie:]) + 1
	binary.BigEndian.PutUint32(page1[headCookie:], cookie)
	c.tx.pager.Header.SchemaCookie = cookie
	c.tx.pager.Schema = new(pager.Schema)
	return nil
}

// createTree makes an empty b-tree and returns its root.
func (c *schemaChange) createTree(kind format.PageKind) (root uint32, err error) {
	root, err = c.tx.pages.Freelist().CreateRoot(kind)
	if err != nil {
		return 0, c.spoil(err)
	}
	return root, nil
}

// ReplaceObject writes the i-th row of sqlite_schema, as Objects counts them. It is what an UPDATE
// of sqlite_schema is in SQLite after PRAGMA writable_schema: it changes the description that the
// database has of its tables and nothing in them, and is for the repair of a damaged text.
func (tx *Tx) ReplaceObject(i int, o Object) error {
	if tx.pager.Over {
		return tx.db.pager.PathError("replace object", ErrClosed)
	}
	return tx.db.pager.PathError("replace object", tx.Nested(func(tx *Tx) error {
		c, err := tx.changeSchema()
		if err != nil {
			return err
		}
		if i < 0 || i >= len(c.rows) {
			return fmt.Errorf("sqlite_schema has %d rows, and no row %d", len(c.rows), i)
		}
		r := &c.rows[i]
		r.Object = o
		if err := c.load(r.rowid, &r.Object); err != nil {
			return err
		}
		if _, err := c.tree.ReplaceRow(r.rowid, c.record); err != nil {
			return c.spoil(err)
		}
		return c.commit()
	}))
}

// destroy releases all pages of a b-tree. In a database with pointer maps the root of another tree
// may take the place of its own.
func (c *schemaChange) destroy(root uint32, table bool) error {
	w := c.tx.pages.Pages()
	t := btree.NewIndex(w, c.tx.writeState().ws, root, nil, 0)
	if table {
		if t = btree.NewTable(w, c.tx.writeState().ws, root); c.isKeyed(root) {
			t = btree.NewIndex(w, c.tx.writeState().ws, root, nil, 0)
		}
	}
	if err := t.Destroy(); err != nil {
		return err
	}
	moved, err := c.tx.pages.Freelist().DropRoot(root)
	if err != nil || moved == 0 {
		return err
	}
	return c.moveRoot(moved, root)
}

// isKeyed reports whether a root belongs to a table WITHOUT ROWID.
func (c *schemaChange) isKeyed(root uint32) bool {
	page, err := c.tx.pages.Pages().Page(root)
	return err == nil && format.PageKind(page[0]).Valid() && !format.PageKind(page[0]).Table()
}
