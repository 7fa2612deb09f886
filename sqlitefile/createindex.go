package sqlitefile

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/format"
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
	for _, term := range x.Columns {
		if t.def.ddl.Columns[term.Column].Virtual() {
			return unsupportedf("index %s on the generated column %s", x.Name, term.Name)
		}
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
	t, err := c.table(name)
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
	f := &indexFiller{tx: c.tx, table: t, x: c.tx.writer.kit.index(c.tx, def, t.def), order: orderOf(stored)}
	for i := range f.order {
		f.order[i].desc = def.key[i].desc // not in an old schema format
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
	order keyOrder
	prev  []byte // the record before, if the index is unique
}

// fill adds the rows, sorted, as the sorter can: it knows no collation but BINARY of texts in UTF-16. Those are added as they come.
func (f *indexFiller) fill() error {
	if f.tx.header.Encoding != format.UTF8 {
		for _, k := range f.order {
			if k.collation != collateBinary {
				return f.records(f.add)
			}
		}
	}
	return f.fillSorted()
}

// records calls fn with the record of each row, which is valid until fn returns.
func (f *indexFiller) records(fn func(record []byte) error) error {
	var buf []byte
	for row, err := range f.table.All() {
		if err != nil {
			return err
		}
		if buf, err = f.tx.recordOf(buf, &row, f.x.fields); err != nil {
			return err
		}
		if err := fn(buf); err != nil {
			return err
		}
	}
	return nil
}

// add adds a record where it belongs.
func (f *indexFiller) add(record []byte) error {
	if err := f.tx.relax(); err != nil {
		return err
	}
	f.x.new = append(f.x.new[:0], record...)
	added, err := f.x.insert()
	if err == nil && !added {
		err = f.x.duplicate(f.table.def)
	}
	return err
}

func (f *indexFiller) fillSorted() (err error) {
	space := &sortSpace{ctx: f.tx.ctx, dir: filepath.Dir(f.tx.db.file.Name()), limit: defaultSortMemory}
	defer func() { err = cmp.Or(err, space.close()) }()
	s := space.sorter(f.order)
	err = f.records(func(record []byte) error {
		place, err := s.add(len(record))
		copy(place, record)
		return err
	})
	if err != nil {
		return err
	}
	space.prepare()
	m, err := s.merge()
	if err != nil {
		return err
	}
	for record := m.peek(); record != nil; record = m.peek() {
		if err := f.append(record); err != nil {
			return err
		}
		if err := m.drop(); err != nil {
			return err
		}
	}
	return nil
}

// append adds a record behind all others.
func (f *indexFiller) append(record []byte) error {
	if err := f.tx.relax(); err != nil {
		return err
	}
	if f.x.def.unique && f.prev != nil {
		if d, null := f.order[:f.x.def.terms].compareFrom(0, f.prev, record); d == 0 && !null {
			return f.x.duplicate(f.table.def)
		}
	}
	added, err := f.x.tree.insertKey(record, 0)
	if err == nil && !added {
		err = f.tx.corrupt(f.table.def.root, "two rows with one key")
	}
	if f.x.def.unique {
		f.prev = append(f.prev[:0], record...)
	}
	return err
}
