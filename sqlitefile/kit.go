package sqlitefile

import (
	"fmt"
	"math"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/expr"
	"github.com/foliofs/folio/internal/format"
)

// A kit is what writing to the tables of a schema takes. It is kept from one transaction to the next for as long as the
// schema stays, so that a b-tree remembers where it was, and nothing is made anew for each.
type kit struct {
	schema *schema
	ws     *workspace
	tables map[*tableDef]*tableState
}

// A tableState is the writing side of one table.
type tableState struct {
	kit     *kit
	def     *tableDef
	tree    *btree
	row     rowBuilder
	fields  []int // the slots in a record of the table
	record  []byte
	indexes []*indexState
	counted bool         // AUTOINCREMENT
	foreign *foreignKeys // nil unless foreign keys of the table are enforced
}

// An indexState is the writing side of one index.
type indexState struct {
	def      *indexDef
	tree     *btree
	fields   []int      // the slots in a record
	rule     *indexRule // nil without expressions
	old, new []byte     // empty where the index, which is partial, does not have the row
}

// equip gives the transaction the kit of its schema.
func (w *writer) equip() {
	tx := w.tx
	if w.kit != nil && w.kit.schema == tx.schema {
		return
	}
	w.freelist = newFreelist(w, &tx.header)
	w.kit = &kit{
		schema: tx.schema,
		ws:     newWorkspace(tx.usable, tx.header.AutoVacuum()),
		tables: make(map[*tableDef]*tableState),
	}
}

// state returns the writing side of a table, or the reason why it cannot be written.
func (k *kit) state(tx *Tx, def *tableDef) (*tableState, error) {
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
	s := &tableState{kit: k, def: def, row: newRowBuilder(def.ddl), fields: def.ddl.StorageOrder(), counted: def.ddl.Autoincrement}
	s.row.enc = tx.header.Encoding
	if def.key == nil {
		s.tree = newTableTree(tx.writer, k.ws, def.root)
	} else {
		s.tree = newIndexTree(tx.writer, k.ws, def.root, def.key, tx.header.Encoding)
	}
	objects, err := tx.Objects()
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if o.Type != "index" || !ddl.EqualFold(o.Table, def.shape.name) {
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
	s.row.setRules(rules)
	if s.foreign, err = tx.foreignKeys(def); err != nil {
		return nil, err
	}
	k.tables[def] = s
	return s, nil
}

// index returns the writing side of an index. Its expressions become a part of the rules of its
// table.
func (k *kit) index(tx *Tx, def *indexDef, rules *rowRules) (x *indexState, err error) {
	x = &indexState{def: def, tree: newIndexTree(tx.writer, k.ws, def.root, def.key, tx.header.Encoding)}
	x.rule, x.fields, err = rules.addIndex(&tx.Rx, def.where, def.stored)
	return x, err
}

// refusal is the error for a table that cannot be written because of what it has.
func (tx *Tx) refusal(t *ddl.Table, what string) error {
	return tx.db.pathError("write", fmt.Errorf("%w: table %s has %s; drop it, or write with SQLite", ErrUnsupported, t.Name, what))
}

// refuse returns an error that names what a table has that writing rows cannot keep true.
func (tx *Tx) refuse(def *tableDef) error {
	t := def.ddl
	no := func(what string) error { return tx.refusal(t, what) }
	if def == &schemaTable {
		return tx.db.pathError("write", fmt.Errorf("%w: rows of sqlite_schema come from CREATE and DROP", ErrUnsupported))
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
	return refuseOrder(def.key, no, "its primary key")
}

// refuseObject looks at what else in the schema concerns a table.
func (tx *Tx) refuseObject(o Object, def *tableDef, no func(string) error) error {
	if !ddl.EqualFold(o.Table, def.shape.name) {
		return nil
	}
	switch o.Type {
	case "trigger":
		return no("the trigger " + o.Name)
	case "index":
		x, err := tx.Index(o.Name)
		if err != nil {
			return err
		}
		return refuseOrder(x.def.key, no, "the index "+o.Name)
	}
	return nil
}

func refuseOrder(key []keyColumn, no func(string) error, what string) error {
	for _, c := range key {
		if c.collation == collateUnknown {
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
	buf = resize(buf, size)
	w := payloadWriter{dst: buf}
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

// recordOf returns the record that the index has of a row, or no bytes if it does not have the row.
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
			var v expr.Value
			v, err = term.Eval(reader)
			stored := valueOf(v.Apply(term.Affinity()))
			types[i], parts[i] = encode(&stored)
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
		typ, b = encodeColumn(&v, c.real)
		return typ, b, err
	}
	f, there, err := tx.field(&row.rec, c.field)
	if err != nil {
		return 0, nil, err
	}
	if there {
		if b, err = tx.fieldBytes(&row.rec, f); err == nil && readsAsNull(f.typ, b) {
			return format.SerialNull, nil, nil
		}
		return f.typ, b, err
	}
	typ, b = encode(&c.dflt)
	return typ, b, row.known(c)
}

// encodeColumn returns a value as a column stores it: a REAL one keeps an integer where that is
// shorter.
func encodeColumn(v *Value, isReal bool) (typ format.SerialType, b []byte) {
	if isReal && v.kind == Float {
		if i, ok := wholeNumber(v.real); ok && format.IntType(i) != format.SerialInt64 {
			return encode(&Value{kind: Integer, num: i})
		}
	}
	return encode(v)
}

// readsAsNull reports whether a value is one that SQLite never writes, and reads as NULL.
func readsAsNull(typ format.SerialType, b []byte) bool {
	return typ == 10 || typ == 11 || typ == format.SerialFloat && math.IsNaN(format.Float(b))
}

// encode returns a value as it is stored.
func encode(v *Value) (typ format.SerialType, b []byte) {
	switch v.kind {
	case Integer:
		typ = format.IntType(v.num)
		return typ, format.AppendInt(nil, typ, v.num)
	case Float:
		return format.SerialFloat, format.AppendFloat(nil, v.real)
	case Text:
		return format.SerialText + format.SerialType(2*len(v.data)), v.data
	case Blob:
		return format.SerialBlob + format.SerialType(2*len(v.data)), v.data
	}
	return format.SerialNull, nil
}
