package sqlitefile

import (
	"fmt"
	"slices"

	"github.com/foliofs/folio/internal/sql/value"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/bulk"
	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/pager"
	"github.com/foliofs/folio/internal/record"
)

// A writeState has everything that writing to the tables of a schema needs. It is kept from one
// transaction to the next for as long as the schema stays, so that a b-tree remembers where it was,
// and nothing is made for each of them.
type writeState struct {
	schema *pager.Schema
	ws     *btree.Workspace
	tables map[*tableDef]*tableState
	sound  bool // the schema is, as far as SQLite looks when it opens the database

	enforcing bool // tables have the foreign keys that are enforced

	statement *foreignStatement // in progress, if foreign keys are enforced
}

// A tableState is the writing side of one table.
type tableState struct {
	shared    *writeState
	def       *tableDef
	tree      *btree.Tree
	row       rowBuilder
	rules     *rowRules // nil without expressions in the schema
	fields    []int     // the slots in a record of the table
	record    []byte
	old       []byte // the record of the row that changes, of a table WITHOUT ROWID
	indexes   []*indexState
	counted   bool           // AUTOINCREMENT
	clauses   *conflictRules // the ON CONFLICT clauses
	conflicts *conflictRules // the same; nil if none of them matters to a single row
	foreign   *foreignKeys   // nil unless foreign keys of the table are enforced
}

// An indexState is the writing side of one index.
type indexState struct {
	def      *indexDef
	tree     *btree.Tree
	fields   []int      // the slots in a record
	rule     *indexRule // nil without expressions
	old, new []byte     // empty if the index, which is partial, lacks the row
}

// writeState returns the write state of the transaction's schema.
func (tx *Tx) writeState() *writeState {
	tx.pages.Freelist() // of this schema
	k, ok := tx.db.written.(*writeState)
	if !ok || !k.isFor(tx.pager.Schema) {
		k = &writeState{
			schema: tx.pager.Schema,
			ws:     btree.NewWorkspace(tx.pager.Usable, tx.pager.Header.AutoVacuum()),
			tables: make(map[*tableDef]*tableState),
		}
		tx.db.written = k
	}
	if k.enforcing != tx.enforcing { // a table knows its foreign keys
		clear(k.tables)
		k.enforcing = tx.enforcing
	}
	return k
}

// isFor implements forSchema.
func (k *writeState) isFor(schema *pager.Schema) bool { return k.schema == schema }

// checkSchema wants a schema that SQLite opens the database with (see Rx.checkSchema).
func (k *writeState) checkSchema(tx *Tx) (err error) {
	if !k.sound {
		err = tx.Rx.checkSchema()
		k.sound = err == nil
	}
	return err
}

// state returns the writing side of a table, or the reason why it cannot be written.
func (k *writeState) state(tx *Tx, def *tableDef) (*tableState, error) {
	if s := k.tables[def]; s != nil {
		return s, nil
	}
	if err := tx.refuse(def); err != nil {
		return nil, err
	}
	rules, err := tx.rules(def.ddl)
	if err != nil {
		return nil, tx.refusal(def.ddl, err.Error())
	}
	s := &tableState{shared: k, def: def, row: newRowBuilder(def.ddl), fields: def.ddl.StorageOrder(), counted: def.ddl.Autoincrement}
	s.row.enc = tx.pager.Header.Encoding
	if def.Key == nil {
		s.tree = btree.NewTable(tx.pages.Pages(), k.ws, def.Root)
	} else {
		s.tree = btree.NewIndex(tx.pages.Pages(), k.ws, def.Root, def.Key, tx.pager.Header.Encoding)
	}
	objects, err := tx.Objects()
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if o.Type != "index" || !ddl.EqualFold(o.Table, def.shape.name) || s.knows(o.Name) {
			continue
		}
		x, err := tx.Index(o.Name)
		if err != nil {
			return nil, err
		}
		state, err := k.index(tx, x.def, rules)
		if err != nil {
			return nil, tx.refusal(def.ddl, fmt.Sprintf("the index %s: %v", o.Name, err))
		}
		s.indexes = append(s.indexes, state)
	}
	if missing := def.missingIndex(objects); missing != "" {
		return nil, tx.pager.Corrupt(1, "no row describes the index "+missing+" of a constraint")
	}
	if !rules.empty() {
		s.rules = rules
		rules.makeRoom(&s.row)
	}
	s.setConflicts()
	if s.foreign, err = tx.foreignKeys(def); err != nil {
		return nil, err
	}
	k.tables[def] = s
	return s, nil
}

// knows reports whether the table has an index of this name already. A row that describes the index
// of a constraint once more changes nothing.
func (s *tableState) knows(index string) bool {
	return slices.ContainsFunc(s.indexes, func(x *indexState) bool { return ddl.EqualFold(x.def.shape.name, index) })
}

// index returns the writing side of an index. Its expressions become a part of the rules of its
// table.
func (k *writeState) index(tx *Tx, def *indexDef, rules *rowRules) (x *indexState, err error) {
	x = &indexState{def: def, tree: btree.NewIndex(tx.pages.Pages(), k.ws, def.Root, def.Key, tx.pager.Header.Encoding)}
	x.rule, x.fields, err = rules.addIndex(&tx.Rx, def.where, def.stored)
	return x, err
}

// refusal is the error for a table that cannot be written because of one of its parts.
func (tx *Tx) refusal(t *ddl.Table, what string) error {
	return tx.db.pager.PathError("write", fmt.Errorf("%w: table %s has %s; drop it, or write with SQLite", ErrUnsupported, t.Name, what))
}

// refuse returns an error that names a part of a table that writing rows cannot keep true.
func (tx *Tx) refuse(def *tableDef) error {
	t := def.ddl
	no := func(what string) error { return tx.refusal(t, what) }
	if def == &schemaTable {
		return tx.db.pager.PathError("write", fmt.Errorf("%w: rows of sqlite_schema come from CREATE and DROP", ErrUnsupported))
	}
	objects, err := tx.Objects()
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := tx.refuseObject(o, def, no); err != nil {
			return err
		}
	}
	return refuseOrder(def.Key, no, "its primary key")
}

// refuseObject looks at another object of the schema that concerns a table.
func (tx *Tx) refuseObject(o Object, def *tableDef, no func(string) error) error {
	if !ddl.EqualFold(o.Table, def.shape.name) {
		return nil
	}
	switch o.Type {
	case "trigger":
		if !tx.db.knowsTrigger(o.SQL) {
			return no("the trigger " + o.Name)
		}
	case "index":
		x, err := tx.Index(o.Name)
		if err != nil {
			return err
		}
		return refuseOrder(x.def.Key, no, "the index "+o.Name)
	}
	return nil
}

func refuseOrder(key []record.KeyColumn, no func(string) error, what string) error {
	for _, c := range key {
		if c.Collation == record.UnknownCollation {
			return no("an unknown collation in " + what)
		}
	}
	return nil
}

// record writes the record of the given slots of the row that was loaded.
func (r *rowBuilder) record(buf []byte, fields []int, values []any) ([]byte, error) {
	size, err := r.header(fields)
	if err != nil {
		return buf, err
	}
	buf = bulk.Resize(buf, size)
	w := bulk.Payload{Dst: buf}
	return buf, r.write(&w, fields, values)
}

// recordOf writes the record of an index for a row of its table as that is stored.
func (tx *Tx) recordOf(buf []byte, row *Row, fields []int) ([]byte, error) {
	types := make([]format.SerialType, 0, 8)
	parts := make([][]byte, 0, 8)
	for _, slot := range fields {
		typ, b, err := tx.stored(row, slot)
		if err != nil {
			return buf, err
		}
		types, parts = append(types, typ), append(parts, b)
	}
	buf = format.AppendRecordHeader(buf[:0], types...)
	for _, b := range parts {
		buf = append(buf, b...)
	}
	return buf, nil
}

// recordOf returns the record that the index has of a row, or no bytes if it lacks the row.
func (x *indexState) recordOf(tx *Tx, buf []byte, row *Row) ([]byte, error) {
	if x.rule == nil {
		return tx.recordOf(buf, row, x.fields)
	}
	reader := &rowInput{*row}
	if has, err := x.rule.has(reader); err != nil || !has {
		return buf[:0], err
	}
	types := make([]format.SerialType, len(x.fields))
	parts := make([][]byte, len(x.fields))
	for i, slot := range x.fields {
		var err error
		if term := x.rule.terms[i]; term == nil {
			types[i], parts[i], err = tx.stored(row, slot)
		} else {
			var v record.Value
			v, err = term.Eval(reader)
			stored := value.Apply(v, term.Affinity())
			types[i], parts[i] = record.Encode(&stored)
		}
		if err != nil {
			return buf, err
		}
	}
	buf = format.AppendRecordHeader(buf[:0], types...)
	for _, b := range parts {
		buf = append(buf, b...)
	}
	return buf, nil
}

// stored returns a value of a row as it is stored; the slot behind the last column is the rowid.
func (tx *Tx) stored(row *Row, slot int) (typ format.SerialType, b []byte, err error) {
	if slot == len(row.shape.fields) || slot == row.shape.alias {
		typ = format.IntType(row.rowid)
		return typ, format.AppendInt(nil, typ, row.rowid), nil
	}
	c := &row.shape.fields[slot]
	if c.field < 0 {
		v, err := row.compute(slot)
		typ, b = record.EncodeColumn(&v, c.real)
		return typ, b, err
	}
	f, there, err := tx.pager.Field(&row.rec, c.field)
	if err != nil {
		return 0, nil, err
	}
	if there {
		if b, err = tx.pager.FieldBytes(&row.rec, f); err == nil && record.ReadsAsNull(f.Typ, b) {
			return format.SerialNull, nil, nil
		}
		return f.Typ, b, err
	}
	typ, b = record.Encode(&c.dflt)
	return typ, b, row.known(c)
}

// load takes in a row, with everything that follows from it, and checks it.
func (s *tableState) load(rowid int64, values []any) error {
	if err := s.row.load(rowid, values); err != nil || s.rules == nil {
		return err
	}
	s.rules.change(s.row.only)
	return s.rules.apply(&s.row, rowid, values)
}
