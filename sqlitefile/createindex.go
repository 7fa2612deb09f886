package sqlitefile

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/bulk"
	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/extsort"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// createIndex runs CREATE INDEX.
func (c *schemaChange) createIndex(x *ddl.Index) error {
	if err := mainOnly(x.Schema, "index "+x.Name, false); err != nil {
		return err
	}
	t, err := c.indexed(x.Table)
	if err != nil {
		return err
	}
	if free, err := c.freeIndex(x); err != nil || !free {
		return err
	}
	stored, err := x.StoredColumns(t.def.ddl)
	if err != nil {
		return err
	}
	if err := refuseIndex(x); err != nil {
		return err
	}
	root, err := c.createTree(format.LeafIndex)
	if err != nil {
		return err
	}
	o := Object{Type: "index", Name: x.Name, Table: t.Name(), Root: root, SQL: x.SQL()}
	if err := c.insert(o); err != nil {
		return err
	}
	if err := c.fillIndex(o, t, stored); err != nil {
		return err
	}
	return c.commit()
}

// indexed returns the table that is to have an index.
func (c *schemaChange) indexed(name string) (Table, error) {
	if c.find(name, "view") != nil {
		return Table{}, errors.New("views may not be indexed")
	}
	t, err := c.table(name)
	if errors.Is(err, ErrNoTable) {
		return t, fmt.Errorf("%w: main.%s", ErrNoTable, name)
	}
	if err == nil && (internalName(t.Name()) || t.def == &schemaTable) {
		err = fmt.Errorf("table %s may not be indexed", t.Name())
	}
	return t, err
}

// freeIndex is free for an index.
func (c *schemaChange) freeIndex(x *ddl.Index) (bool, error) {
	if internalName(x.Name) {
		return false, errReserved(x.Name)
	}
	if o := c.find(x.Name, "table", "view"); o != nil {
		return false, fmt.Errorf("there is already a table named %s", o.Name)
	}
	if o := c.find(x.Name, "index"); o != nil {
		if x.IfNotExists {
			return false, nil
		}
		return false, fmt.Errorf("index %s already exists", o.Name)
	}
	return true, nil
}

// fillIndex adds the rows of a table to its new index o.
func (c *schemaChange) fillIndex(o Object, t Table, stored []ddl.IndexedColumn) error {
	def, err := c.tx.newIndexDef(o, t.def)
	if err != nil {
		return err
	}
	rules, err := c.tx.rules(t.def.ddl)
	if err != nil {
		return c.tx.refusal(t.def.ddl, err.Error())
	}
	x, err := c.tx.writeState().index(c.tx, def, rules)
	if err != nil {
		return unsupportedf("index %s: %v", o.Name, err)
	}
	f := &indexFiller{tx: c.tx, table: t, x: x, order: orderOf(stored)}
	f.tree = bulk.NewTree(f, c.tx.pager.Usable, false)
	for i := range f.order {
		f.order[i].Desc = def.Key[i].Desc // not in an old schema format
	}
	if err := f.fill(); err != nil {
		return c.spoil(err)
	}
	return nil
}

// An indexFiller fills the new index of a table.
type indexFiller struct {
	tx    *Tx
	table Table
	x     *indexState
	order record.Order
	prev  []byte // the record before as it was sorted, if the index is unique
	tree  *bulk.Tree
}

// records calls fn with the record of each row, which is valid until fn returns.
func (f *indexFiller) records(fn func(record []byte) error) error {
	var buf []byte
	for row, err := range f.table.All() {
		if err != nil {
			return err
		}
		if buf, err = f.x.recordOf(f.tx, buf, &row); err != nil {
			return err
		}
		if len(buf) == 0 {
			continue
		}
		if err := fn(buf); err != nil {
			return err
		}
	}
	return nil
}

// fill adds the rows, sorted.
func (f *indexFiller) fill() (err error) {
	space := extsort.New(f.tx.pages.Context(), filepath.Dir(f.tx.db.Path()), f.tx.db.options.sortBytes)
	defer func() { err = cmp.Or(err, space.Close()) }()
	s := space.Sorter(f.order)
	wrapped := f.wraps()
	if err := f.sort(s, wrapped); err != nil {
		return err
	}
	space.Prepare()
	m, err := s.Merge()
	if err != nil {
		return err
	}
	for record := m.Peek(); record != nil; record = m.Peek() {
		if f.x.def.unique && f.repeats(record) {
			return f.x.duplicate(f.table.def)
		}
		if wrapped {
			record = f.unwrap(record)
		}
		if err := f.append(record); err != nil {
			return err
		}
		if err := m.Drop(); err != nil {
			return err
		}
	}
	return f.finish()
}

// sort gives the records to the sorter.
func (f *indexFiller) sort(s *extsort.Sorter, wrapped bool) error {
	return f.records(func(record []byte) error {
		if wrapped {
			record = f.wrap(record)
		}
		place, err := s.Add(len(record))
		copy(place, record)
		return err
	})
}

// wraps reports whether the sorter does not know how to compare the records: texts in UTF-16 by any
// collation but BINARY.
func (f *indexFiller) wraps() bool {
	return f.tx.pager.Header.Encoding != format.UTF8 && slices.ContainsFunc(f.order, func(k record.KeyColumn) bool { return k.Collation != record.Binary })
}

// wrap returns a record that the sorter can compare, with the texts in question in UTF-8, and the
// record itself as one more value.
func (f *indexFiller) wrap(rec []byte) []byte {
	var types []format.SerialType
	var body []byte
	values := record.Read(rec)
	for _, k := range f.order {
		v := values.Next()
		if v.Type.IsText() && k.Collation != record.Binary {
			v.Data = record.UTF8Of(v.Data, f.tx.pager.Header.Encoding)
			v.Type = format.SerialText + format.SerialType(2*len(v.Data))
		}
		types, body = append(types, v.Type), append(body, v.Data...)
	}
	types = append(types, format.SerialBlob+format.SerialType(2*len(rec)))
	return append(append(format.AppendRecordHeader(nil, types...), body...), rec...)
}

// unwrap returns the record that wrap was given.
func (f *indexFiller) unwrap(rec []byte) []byte {
	values := record.Read(rec)
	for range f.order {
		values.Next()
	}
	return values.Next().Data
}

// repeats reports whether a record, as it was sorted, has the key of the one before. NULLs are
// never equal.
func (f *indexFiller) repeats(record []byte) bool {
	if f.prev != nil {
		if d, null := f.order[:f.x.def.terms].CompareFrom(0, f.prev, record); d == 0 && !null {
			return true
		}
	}
	f.prev = append(f.prev[:0], record...)
	return false
}

// append adds a record behind the last one.
func (f *indexFiller) append(record []byte) error {
	if err := f.tx.pages.BeginChange(); err != nil {
		return err
	}
	e := btree.NewEntry(0, [][]byte{record})
	local, body := f.x.tree.Shape(&e)
	overflow, err := f.x.tree.WriteChain(&e, local, f.x.tree.Root, format.Cell{})
	if err != nil {
		return err
	}
	cell, err := f.tree.IndexCell(body)
	if err == nil {
		f.x.tree.Write(cell, &e, local, overflow)
	}
	return err
}

// finish writes the rest of the tree, with the root to where it was made.
func (f *indexFiller) finish() error {
	root := f.x.tree.Root
	page, err := f.tx.pages.Fresh(root)
	if err != nil {
		return err
	}
	return f.tree.FinishIn(root, page)
}

// Page is the next page for the tree.
func (f *indexFiller) Page() (pgno uint32, data []byte, err error) {
	return f.tx.pages.Pages().Allocate(f.x.tree.Root)
}

// Done notes the pages that a page of the tree points to.
func (f *indexFiller) Done(pgno uint32, data []byte) error {
	if !f.x.tree.Pointers {
		return nil
	}
	n, ok := btree.ParseNode(data, pgno)
	if !ok {
		return f.tx.pager.Corrupt(pgno, "not a b-tree page")
	}
	return btree.LinkNode(f.tx.pages.Freelist(), &n)
}
