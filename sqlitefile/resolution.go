package sqlitefile

import (
	"cmp"
	"errors"
	"slices"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/syntax"
)

// resolve returns a writer that resolves conflicts as a statement of SQL says: by its OR clause and
// by the ON CONFLICT clauses of an upsert, otherwise by the clauses of the table.
func (t TableWriter) resolve(or syntax.Conflict, upserts []private.Upsert) TableWriter {
	base := t.state.clauses
	if or == syntax.ConflictNone && len(upserts) == 0 {
		fails := func(u uniqueRule) bool { return u.conflict == syntax.ConflictFail }
		if t.resolution = nil; len(base.unique) > 2 || t.def.Key != nil || // which one is broken first shows in the error
			slices.Contains(base.notNull, syntax.ConflictFail) || slices.ContainsFunc(base.unique, fails) {
			t.resolution = base
		}
		return t
	}
	r := &conflictRules{notNull: base.notNull, unique: slices.Clone(base.unique)}
	if or != syntax.ConflictNone {
		r.check = or
		r.notNull = slices.Repeat([]syntax.Conflict{or}, len(base.notNull))
		for i := range r.unique {
			r.unique[i].conflict = or
		}
	}
	var first []uniqueRule // the constraints that upserts name come first
	for i, u := range upserts {
		named := func(x uniqueRule) bool {
			if x.index == nil {
				return u.Key
			}
			return slices.ContainsFunc(u.Indexes, func(name string) bool { return ddl.EqualFold(name, x.index.def.shape.name) })
		}
		for j := 0; j < len(r.unique); {
			x := r.unique[j]
			if !u.Any && !named(x) {
				j++
				continue
			}
			if x.conflict = syntax.ConflictIgnore; u.Update {
				x.upsert = i + 1
			}
			first = append(first, x)
			r.unique = slices.Delete(r.unique, j, j+1)
		}
	}
	r.unique = append(first, r.unique...)
	t.resolution = r
	return t
}

// Resolve lets the table resolve conflicts as a statement of SQL says: by its OR clause, and by the
// ON CONFLICT clauses of an upsert.
func (i internalWriter) Resolve(or syntax.Conflict, upserts ...private.Upsert) {
	*i.t = i.t.resolve(or, upserts)
}

// Insert is [TableWriter.Insert] or, if a rowid is given, [TableWriter.InsertRowid]. Without an
// error the row was inserted, or the outcome says why not.
func (i internalWriter) Insert(given bool, rowid int64, values ...any) (private.Outcome, error) {
	t := *i.t
	if err := t.ready(); err != nil {
		return private.Outcome{}, err
	}
	var err error
	if t.partial() {
		if values, err = t.complete(nil, values); err != nil {
			return private.Outcome{}, err
		}
	}
	switch {
	case t.def.Key != nil:
		err = t.insertKey(values)
	default:
		if err = t.state.row.count(values); err == nil && !given {
			rowid, err = t.newRowid()
		}
		if err == nil {
			err = t.insertRow(rowid, values)
		}
	}
	out := private.Outcome{Row: private.RowKey{Rowid: rowid}}
	other := (*upsertError)(nil)
	switch {
	case err == errIgnored:
		out.Ignored = true
		return out, t.leaveOut(rowid)
	case errors.As(err, &other):
		out.Upsert, out.Row = other.clause+1, private.RowKey{Rowid: other.row.rowid, Key: other.row.key}
		var arena []byte
		for c := range t.def.shape.fields {
			v := record.OfInt(rowid)
			if c != t.def.shape.alias {
				v = t.state.row.exprValue(c, values, &arena).Clone()
			}
			out.Values = append(out.Values, v)
		}
		out.Values = append(out.Values, record.OfInt(rowid))
		return out, t.leaveOut(rowid)
	case err == nil && t.def.Key != nil:
		out.Row.Key = t.rowOf(t.state.record, nil).key
	}
	return out, err
}

// BeginInsert begins the inserting of rows by a statement, up to EndInsert: the last rowid of a
// table with AUTOINCREMENT is kept in memory meanwhile, as by SQLite.
func (i internalWriter) BeginInsert() error {
	if !i.t.state.counted {
		return nil
	}
	last, err := i.t.tx.sequence(i.t.Name(), 0)
	i.t.counter = &last
	return err
}

// EndInsert notes the last rowid of a table with AUTOINCREMENT, even if there was no row.
func (i internalWriter) EndInsert() error {
	if i.t.counter == nil {
		return nil
	}
	last := *i.t.counter
	i.t.counter = nil
	return i.t.leaveOut(last)
}

// HasForeignKeys reports whether foreign keys are enforced that one of the columns belongs to, or
// that refer to one; without columns, whether there are any.
func (i internalWriter) HasForeignKeys(columns ...int) bool {
	f := i.t.state.foreign
	return f != nil && (len(columns) == 0 || slices.ContainsFunc(columns, f.involve))
}

// OneStep reports whether an insertion changes nothing but its own row: no clause may replace other
// rows, and no foreign key is enforced.
func (i internalWriter) OneStep() bool {
	replaces := func(u uniqueRule) bool { return u.conflict == syntax.ConflictReplace }
	r := i.t.clauses()
	return i.t.state.foreign == nil && (r == nil || !slices.ContainsFunc(r.unique, replaces))
}

// Replace gives a row other values in some columns, and perhaps another key. A row that is gone is
// ignored.
func (i internalWriter) Replace(old private.RowKey, rowid int64, columns []int, values ...any) (private.Outcome, error) {
	t := *i.t
	t.set = columns
	if err := t.ready(); err != nil {
		return private.Outcome{}, err
	}
	row, ok, err := i.Row(old)
	if err != nil || !ok {
		return private.Outcome{Ignored: true}, err
	}
	if t.resolution == nil && (t.def.Key != nil || rowid != old.Rowid) {
		t.resolution = t.state.clauses // so that the key is compared with others
	}
	s := t.state
	t.moved = t.def.Key == nil && rowid != old.Rowid
	out := private.Outcome{Row: private.RowKey{Rowid: rowid}}
	err = t.replace(&row, rowid, values, func() error {
		switch {
		case t.def.Key != nil:
			out.Row.Key = t.rowOf(s.record, nil).key
			ok, err := s.tree.DeleteKey(s.old)
			if err == nil && !ok {
				err = t.tx.pager.Corrupt(t.def.Root, faultLost)
			}
			if err == nil {
				_, err = s.tree.InsertKey(s.record, len(t.def.Key))
			}
			return err
		case rowid != old.Rowid:
			ok, err := s.tree.DeleteRow(old.Rowid)
			if err == nil && !ok {
				err = t.tx.pager.Corrupt(t.def.Root, faultLost)
			}
			if err == nil {
				_, err = s.tree.InsertRow(rowid, s.record)
			}
			return err
		}
		_, err := s.tree.ReplaceRow(rowid, s.record)
		return err
	})
	if err == errIgnored {
		return private.Outcome{Ignored: true}, nil
	}
	return out, err
}

// Remove deletes a row, and reports whether there was one.
func (i internalWriter) Remove(k private.RowKey) (ok bool, err error) {
	if i.t.def.Key != nil {
		n, err := i.t.DeleteKey(k.Key...)
		return n > 0, err
	}
	return i.t.Delete(k.Rowid)
}

// Row reads a row.
func (i internalWriter) Row(k private.RowKey) (Row, bool, error) {
	if i.t.def.Key != nil {
		return i.t.Find(k.Key...)
	}
	return i.t.Get(k.Rowid)
}

// Key returns the key of a row, in memory of its own.
func (i internalWriter) Key(row *Row) (private.RowKey, error) {
	c, err := identify(i.t.def.ddl, row)
	return private.RowKey{Rowid: c.rowid, Key: c.key}, err
}

// Default returns the default of a column.
func (i internalWriter) Default(column int) (record.Value, error) { return i.t.further(nil, column) }

// Statement calls fn, which changes rows for one statement of SQL: foreign keys are checked when it
// returns. If it fails, everything that it has changed is as before, unless the error is that of a
// constraint whose clause is FAIL.
func (i internalTx) Statement(fn func() error) error {
	tx := i.tx
	work := tx.writeState()
	if work.statement != nil { // within another one, of a trigger
		return fn()
	}
	var failed error
	err := tx.Nested(func(tx *Tx) error {
		if tx.enforcing {
			work.statement = &foreignStatement{}
			defer func() { work.statement = nil }()
		}
		err := fn()
		if broken := (*ConstraintError)(nil); errors.As(err, &broken) && broken.clause == syntax.ConflictFail {
			failed, err = err, nil
		}
		if err == nil && tx.enforcing {
			err = work.statement.finish(tx)
		}
		return err
	})
	return cmp.Or(err, failed)
}

// Restricted reports whether an error is that of the action RESTRICT of a foreign key, which SQLite
// runs as a trigger: it gives the error the extended code of a trigger.
func Restricted(_ private.Key, err error) bool {
	broken := (*ConstraintError)(nil)
	return errors.As(err, &broken) && broken.restricted
}

// Clause returns the ON CONFLICT clause, or the OR clause of the statement, of the constraint that
// an error says is broken.
func Clause(_ private.Key, err error) syntax.Conflict {
	if broken := (*ConstraintError)(nil); errors.As(err, &broken) {
		return broken.clause
	}
	return syntax.ConflictNone
}
