package sqlitefile

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// A TableWriter reads and changes one table within a write transaction. Every index of the table is
// kept in step, and UNIQUE, NOT NULL, PRIMARY KEY, CHECK and the types of STRICT hold: an error
// that matches ErrConstraint says which does not, and then nothing has changed.
//
// An ON CONFLICT clause of a constraint applies to each call, as to an INSERT or UPDATE of one row.
// REPLACE deletes the rows that are in the way. IGNORE changes nothing and is no error: Insert
// returns 0, and Update returns true if there is such a row. After ROLLBACK the transaction fails.
//
// Generated columns are computed: their values are given as nil.
//
// Values are given for all columns in the order of CREATE TABLE, or for the columns that
// [TableWriter.Named] was given. A value is nil, an integer of any type of Go's own, bool, float32,
// float64, string, []byte, a time.Time, which is stored as a TEXT in UTC ('2026-11-22
// 15:04:05.123', with up to nine digits behind the second), or a pointer to an int64, which takes
// no memory of its own in an any. The affinity of the column is applied as by INSERT. Nothing of
// them is kept after the call.
type TableWriter struct {
	Table
	tx    *Tx
	state *tableState
	first int           // how many columns values are given for, if not for all of them
	named *namedColumns // which columns these are (see Named), or nil: the first ones (see firstColumns)
	only  int           // the only column that changes, counted from 1; 0 for all
	moved bool          // the rowid changes

	resolution *conflictRules // of a statement of SQL, in place of the clauses of the table
	set        []int          // the columns that such a statement sets in rows that are there; nil for all
	counter    *int64         // the last rowid of AUTOINCREMENT, while such a statement inserts rows
}

// Table returns the table with the given name to read and to change. Besides the errors of Rx.Table
// it gives ErrUnsupported, naming it, for anything that the table has and that cannot be kept true,
// and an error that matches ErrCorrupt if SQLite could not open the database because of its schema,
// whichever table that concerns.
func (tx *Tx) Table(name string) (TableWriter, error) {
	if tx.pager.Over {
		return TableWriter{}, tx.db.pager.PathError("write", ErrClosed)
	}
	if err := tx.writeState().checkSchema(tx); err != nil {
		return TableWriter{}, err
	}
	t, err := tx.Rx.Table(name)
	if err != nil {
		return TableWriter{}, err
	}
	s, err := tx.writeState().state(tx, t.def)
	return TableWriter{Table: t, tx: tx, state: s}, err
}

// ready is called before each operation. A table that was asked for before the schema changed may
// be another one by now.
func (t TableWriter) ready() error {
	if err := t.tx.pages.BeginChange(); err != nil {
		return err
	}
	if !t.current() {
		return t.tx.db.pager.PathError("write", fmt.Errorf("%s: %w: the schema changed since Tx.Table returned it", t.Name(), ErrClosed))
	}
	return nil
}

// current reports whether the writing side of the table belongs to the current schema.
func (t TableWriter) current() bool {
	k := t.state.shared
	return !t.tx.pager.Over && k == t.tx.writeState()
}

// Insert adds a row and returns its rowid: the value of the INTEGER PRIMARY KEY, if there is one
// and it is not nil, and otherwise a new one, chosen as SQLite chooses it. The rowid is 0 in a
// table WITHOUT ROWID, and if a constraint with ON CONFLICT IGNORE leaves the row out.
func (t TableWriter) Insert(values ...any) (rowid int64, err error) {
	if t.enforces() {
		err = t.statement(func() (err error) { rowid, err = t.Insert(values...); return err })
		return rowid, err
	}
	if err := t.ready(); err != nil {
		return 0, err
	}
	if t.partial() {
		if values, err = t.complete(nil, values); err != nil {
			return 0, err
		}
	}
	if t.def.Key != nil {
		return 0, withoutIgnored(t.insertKey(values))
	}
	if err := t.state.row.count(values); err != nil {
		return 0, err
	}
	if rowid, err = t.chooseRowid(values); err != nil {
		return 0, err
	}
	if err = t.insertRow(rowid, values); err == errIgnored {
		return 0, t.leaveOut(rowid)
	}
	return rowid, err
}

// InsertRowid adds a row with the given rowid.
func (t TableWriter) InsertRowid(rowid int64, values ...any) (err error) {
	if t.enforces() {
		err = t.statement(func() error { return t.InsertRowid(rowid, values...) })
		return err
	}
	if err := t.ready(); err != nil {
		return err
	}
	if t.def.Key != nil {
		return errNoRowid(&t.def.shape)
	}
	if t.partial() {
		if values, err = t.complete(nil, values); err != nil {
			return err
		}
	}
	if err = t.insertRow(rowid, values); err == errIgnored {
		return t.leaveOut(rowid)
	}
	return err
}

// chooseRowid returns the rowid of a row to insert.
func (t TableWriter) chooseRowid(values []any) (int64, error) {
	s := t.state
	if a := t.def.shape.alias; a >= 0 && a < len(values) && values[a] != nil {
		var slot slot
		switch ok := s.row.set(&slot, value.AffinityInteger, values[a]); {
		case ok && slot.typ.IsInt():
			return int64(slot.num), nil
		case ok && slot.typ == format.SerialNull:
			return t.newRowid()
		}
		return 0, fmt.Errorf("%s.%s: datatype mismatch: the rowid must be an integer", t.Name(), t.def.shape.fields[a].name)
	}
	return t.newRowid()
}

// newRowid returns a rowid that no row has, as SQLite chooses it.
func (t TableWriter) newRowid() (int64, error) {
	s := t.state
	last, _, err := s.tree.LastRowid() // 0 in an empty table
	if err != nil {
		return 0, err
	}
	if s.counted {
		if t.counter != nil {
			last = max(last, *t.counter)
		} else if last, err = t.tx.sequence(t.Name(), last); err != nil {
			return 0, err
		}
		if last == btree.MaxRowid {
			return 0, fmt.Errorf("%s: %w: AUTOINCREMENT has used the last rowid", t.Name(), ErrFull)
		}
	}
	if last < btree.MaxRowid {
		return last + 1, nil
	}
	return t.randomRowid()
}

// randomRowid looks for a free rowid if the largest is taken, as SQLite does.
func (t TableWriter) randomRowid() (int64, error) {
	for range 100 {
		rowid := rand.Int64N(btree.MaxRowid>>1) + 1
		found, err := t.state.tree.SeekRow(rowid)
		if err != nil || !found {
			return rowid, err
		}
	}
	return 0, fmt.Errorf("%s: %w: no rowid was found to be free", t.Name(), ErrFull)
}

// LastRowid returns the largest rowid of the table, if it has a row.
func (t TableWriter) LastRowid() (rowid int64, ok bool, err error) {
	if err := t.ready(); err != nil {
		return 0, false, err
	}
	if t.def.Key != nil {
		return 0, false, errNoRowid(&t.def.shape)
	}
	return t.state.tree.LastRowid()
}

func (t TableWriter) insertRow(rowid int64, values []any) (err error) {
	s := t.state
	if values, err = t.resolveNulls(values, anyColumn); err != nil {
		return err
	}
	if err := t.prepare(rowid, values); err != nil {
		return err
	}
	if s.record, err = s.row.record(s.record, s.fields, values); err != nil {
		return err
	}
	if err := t.settleInsert(rowid, values); err != nil {
		return err
	}
	added, err := s.tree.InsertRow(rowid, s.record)
	if err != nil {
		return t.spoil(err)
	}
	if !added {
		return t.duplicateRow()
	}
	if err := t.insertEntries(func() error { _, err := s.tree.DeleteRow(rowid); return err }); err != nil {
		return err
	}
	if err := t.leaveOut(rowid); err != nil {
		return t.spoil(err)
	}
	return t.checkOwn(rowid, values)
}

// prepare loads a row to insert and makes the records of its indexes.
func (t TableWriter) prepare(rowid int64, values []any) error {
	return t.prepareChange(rowid, values, anyColumn)
}

// prepareUpdate is prepare for a row to be changed. Only the rules and indexes count that the
// columns which change are a part of, as in SQLite: a row that breaks another rule, because it was
// written when that was not checked, can be changed all the same. A row whose rowid changes must
// keep all rules, because the rowid that expressions read is no column.
func (t TableWriter) prepareUpdate(rowid int64, values []any) error {
	if t.moved {
		return t.prepare(rowid, values)
	}
	return t.prepareChange(rowid, values, cmp.Or(t.only, everyColumn))
}

func (t TableWriter) prepareChange(rowid int64, values []any, only int) (err error) {
	s := t.state
	s.row.only = only
	if err := s.load(rowid, values); err != nil {
		return t.resolveGenerated(err)
	}
	for _, x := range s.indexes {
		if s.keeps(x) {
			x.new = x.new[:0]
			continue
		}
		if x.rule != nil {
			if has, err := s.rules.enter(&s.row, x.rule); err != nil || !has {
				if x.new = x.new[:0]; err != nil {
					return fmt.Errorf("%s: the index %s: %w", t.Name(), x.def.shape.name, err)
				}
				continue
			}
		}
		if x.new, err = s.row.record(x.new, x.fields, values); err != nil {
			return err
		}
	}
	return nil
}

func (t TableWriter) duplicateRow() error {
	name := "rowid"
	if a := t.def.shape.alias; a >= 0 {
		name = t.def.shape.fields[a].name
	}
	return &ConstraintError{Kind: ConstraintUnique, Table: t.Name(), Columns: []string{name}}
}

// spoil makes sure that a transaction whose trees may be half changed is not committed.
func (t TableWriter) spoil(err error) error {
	t.tx.pages.Spoil(err)
	return err
}

// Update replaces the row with the given rowid, and reports whether there is one. The rowid stays:
// the INTEGER PRIMARY KEY, if there is one, must be nil or the same.
func (t TableWriter) Update(rowid int64, values ...any) (ok bool, err error) {
	if t.enforces() {
		err = t.statement(func() (err error) { ok, err = t.Update(rowid, values...); return err })
		return ok, err
	}
	if err := t.ready(); err != nil {
		return false, err
	}
	if t.partial() {
		return t.updatePartial(rowid, values)
	}
	if t.def.Key == nil && len(t.state.indexes) == 0 && t.state.foreign == nil && t.clauses() == nil {
		return t.updateAlone(rowid, values)
	}
	row, ok, err := t.Get(rowid)
	if err != nil || !ok {
		return false, err
	}
	return true, withoutIgnored(t.replace(&row, rowid, values, func() error {
		s := t.state
		_, err := s.tree.ReplaceRow(rowid, s.record)
		return err
	}))
}

// updateAlone is Update for a table without indexes, if the row as it was is not needed.
func (t TableWriter) updateAlone(rowid int64, values []any) (ok bool, err error) {
	s := t.state
	if err := t.prepareUpdate(rowid, values); err != nil {
		if _, there, missing := t.Get(rowid); missing == nil && !there {
			return false, nil // values for no row break no rule
		}
		return false, err
	}
	if s.record, err = s.row.record(s.record, s.fields, values); err != nil {
		return false, err
	}
	if ok, err = s.tree.ReplaceRow(rowid, s.record); err != nil {
		err = t.spoil(err)
	}
	return ok, err
}

// replace puts new values in place of a row.
func (t TableWriter) replace(row *Row, rowid int64, values []any, put func() error) (err error) {
	s := t.state
	if t.clauses() != nil {
		if values, err = t.resolveNulls(ownValues(values), t.only); err != nil {
			return err
		}
	}
	if err := t.prepareUpdate(rowid, values); err != nil {
		return err
	}
	if s.record, err = s.row.record(s.record, s.fields, values); err != nil {
		return err
	}
	if err := t.oldEntries(row); err != nil {
		return err
	}
	if err := t.settleUpdate(row, rowid, values); err != nil {
		return err
	}
	if err := t.checkUnique(); err != nil {
		return err
	}
	keys, err := t.parentKeys(row)
	if err != nil {
		return err
	}
	keys = t.setNew(keys, rowid, values)
	if err := put(); err != nil {
		return t.spoil(err)
	}
	for _, x := range s.indexes {
		if bytes.Equal(x.old, x.new) {
			continue
		}
		if err := x.remove(x.old); err != nil {
			return t.spoil(err)
		}
		if len(x.new) == 0 {
			continue
		}
		if _, err := x.tree.InsertKey(x.new, 0); err != nil {
			return t.spoil(err)
		}
	}
	if err := t.checkOwn(rowid, values); err != nil {
		return err
	}
	return t.followed(keys)
}

// Put adds a row with the given rowid, or replaces the row that has it.
func (t TableWriter) Put(rowid int64, values ...any) error {
	ok, err := t.Update(rowid, values...)
	if err != nil || ok {
		return err
	}
	return t.InsertRowid(rowid, values...)
}

// Delete deletes the row with the given rowid, and reports whether there was one.
func (t TableWriter) Delete(rowid int64) (ok bool, err error) {
	if t.enforces() {
		err = t.statement(func() (err error) { ok, err = t.Delete(rowid); return err })
		return ok, err
	}
	if err := t.ready(); err != nil {
		return false, err
	}
	row, ok, err := t.Get(rowid)
	if err != nil || !ok {
		return false, err
	}
	if err := t.oldEntries(&row); err != nil {
		return false, err
	}
	keys, err := t.parentKeys(&row)
	if err != nil {
		return false, err
	}
	if ok, err = t.state.tree.DeleteRow(rowid); err != nil || !ok {
		return false, t.spoil(cmp.Or(err, t.tx.pager.Corrupt(t.def.Root, faultLost)))
	}
	if err := t.deleteEntries(); err != nil {
		return false, err
	}
	return true, t.followed(keys)
}

const faultLost = "a row is not found by its key"

// value returns a value that was loaded as a key to look for.
func (r *rowBuilder) value(column int, values []any) (record.Value, error) {
	s := &r.slots[column]
	var b []byte
	switch s.from {
	case fromValue:
		b = valueBytes(values[column])
	case fromText:
		b = r.text[s.num : s.num+s.typ.Size()]
	default:
		b = format.AppendInt(nil, s.typ, int64(s.num))
	}
	enc := r.enc
	if enc == 0 {
		enc = format.UTF8
	}
	return record.Decode(s.typ, b, enc), nil
}
