package sqlitefile

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/syntax"
)

// A conflictRules holds the ON CONFLICT clauses of a table's constraints. A table in which every
// broken constraint is just an error, as by ABORT and FAIL for a single row, has none: nil.
//
// They apply to each call as to an INSERT or UPDATE of one row. As in SQLite the constraints count
// in this order: NOT NULL, CHECK, whose clause means nothing, then the unique ones, those with
// REPLACE last.
type conflictRules struct {
	notNull []syntax.Conflict // by column
	key     syntax.Conflict   // of the rowid, or of the primary key of a table WITHOUT ROWID
	unique  []uniqueRule      // in the order in which they are looked at
}

// A uniqueRule is the clause of a unique index, or of the key of the table if index is nil.
type uniqueRule struct {
	index    *indexState
	conflict syntax.Conflict
}

// errIgnored says that a row is left as it is because of ON CONFLICT IGNORE.
var errIgnored = errors.New("ignored")

// withoutIgnored returns an error that a caller is to see.
func withoutIgnored(err error) error {
	if err == errIgnored {
		return nil
	}
	return err
}

// leaveOut ends an INSERT whose row is ignored: AUTOINCREMENT does not give the rowid again.
func (t TableWriter) leaveOut(rowid int64) error {
	if !t.state.counted {
		return nil
	}
	return t.tx.setSequence(t.Name(), rowid)
}

// setConflicts notes the clauses of the table.
func (s *tableState) setConflicts() {
	t := s.def.ddl
	r := &conflictRules{notNull: make([]syntax.Conflict, len(t.Columns))}
	any := false
	note := func(c syntax.Conflict) syntax.Conflict {
		any = any || c == syntax.ConflictIgnore || c == syntax.ConflictReplace || c == syntax.ConflictRollback
		return c
	}
	for i := range t.Columns {
		r.notNull[i] = note(t.Columns[i].NotNullConflict)
	}
	r.key = note(t.KeyConflict)
	auto := t.AutoIndexes()
	constraints := make([]uniqueRule, len(auto))
	for _, x := range slices.Backward(s.indexes) { // SQLite looks at the latest first, and at indexes of constraints last
		named := func(a ddl.AutoIndex) bool { return ddl.EqualFold(a.Name, x.def.shape.name) }
		if i := slices.IndexFunc(auto, named); i >= 0 {
			constraints[len(auto)-1-i] = uniqueRule{x, note(auto[i].OnConflict)}
		} else if x.def.unique {
			r.unique = append(r.unique, uniqueRule{index: x})
		}
	}
	r.unique = append(r.unique, constraints...)
	key := 0 // a rowid is looked at first
	if t.WithoutRowid {
		key = len(r.unique) - constraintsBefore(auto)
	}
	r.unique = slices.Insert(r.unique, key, uniqueRule{nil, r.key})
	slices.SortStableFunc(r.unique, func(a, b uniqueRule) int {
		return boolInt(a.conflict == syntax.ConflictReplace) - boolInt(b.conflict == syntax.ConflictReplace)
	})
	if any {
		s.conflicts = r
	}
}

// constraintsBefore returns how many indexes of constraints come before the key of a table WITHOUT
// ROWID: it has a number among them, which is left out.
func constraintsBefore(auto []ddl.AutoIndex) int {
	for i := range auto {
		if !strings.HasSuffix(auto[i].Name, "_"+strconv.Itoa(i+1)) {
			return i
		}
	}
	return len(auto)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// clauses returns the rules that apply, or nil: the action of a foreign key fails if it breaks a
// constraint, whatever its clause, as in SQLite.
func (t TableWriter) clauses() *conflictRules {
	if s := t.state.shared.statement; s != nil && s.depth > 0 {
		return nil
	}
	return t.state.conflicts
}

// resolveNulls applies the clauses of NOT NULL to the values of a row, of which the columns from 1
// on that only names may change (see rowBuilder.only). It returns errIgnored for a row that is left
// out, and a copy of the values if a default takes the place of a NULL.
func (t TableWriter) resolveNulls(values []any, only int) ([]any, error) {
	r := t.clauses()
	if r == nil || len(values) != len(r.notNull) {
		return values, nil
	}
	copied := false
	for i := range values {
		c := &t.def.ddl.Columns[i]
		if !c.NotNull || c.Generated != nil || i == t.def.shape.alias || only > 0 && only != i+1 || !isNull(values[i]) {
			continue
		}
		d := &t.def.defaults[i]
		switch {
		case r.notNull[i] == syntax.ConflictIgnore:
			return values, cmp.Or(t.typesFirst(values), errIgnored)
		case r.notNull[i] != syntax.ConflictReplace || !d.known || c.Default.Kind == ddl.DefaultNone:
			return values, t.abort(r.notNull[i], &ConstraintError{Kind: ConstraintNotNull, Table: t.Name(), Columns: []string{c.Name}})
		}
		if !copied {
			values, copied = ownValues(values), true
		}
		values[i] = d.at(&t.tx.Rx)
	}
	return values, nil
}

// resolveGenerated applies the clause of NOT NULL to a generated column, given the error of
// computing it. REPLACE has no default to put there and is an error, as in SQLite.
func (t TableWriter) resolveGenerated(err error) error {
	var broken *ConstraintError
	r := t.clauses()
	if r == nil || !errors.As(err, &broken) || broken.Kind != ConstraintNotNull {
		return err
	}
	i, missing := t.Column(broken.Columns[0])
	if missing != nil || t.def.ddl.Columns[i].Generated == nil {
		return err
	}
	if c := r.notNull[i]; c != syntax.ConflictIgnore {
		return t.abort(c, err)
	}
	return errIgnored
}

// typesFirst returns the error of a value that its column in a STRICT table does not take, if
// SQLite looks at types before NOT NULL: if the table has generated columns.
func (t TableWriter) typesFirst(values []any) error {
	b := &t.state.row
	if !b.strict || !slices.ContainsFunc(b.columns, func(c ddl.Column) bool { return c.Generated != nil }) {
		return nil
	}
	b.text = b.text[:0]
	for i, v := range values {
		c, s := &b.columns[i], slot{}
		if i != b.alias && b.set(&s, c.Affinity, v) && s.typ != format.SerialNull && !allowed(c.Standard, s.typ) {
			return b.mistyped(c, s.typ)
		}
	}
	return nil
}

// isNull reports whether a value is stored as NULL.
func isNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []byte:
		return v == nil
	case float64:
		return v != v
	case float32:
		return v != v
	case Value:
		return v.v.Kind() == record.Null
	case record.Value:
		return v.Kind() == record.Null
	}
	return false
}

// abort returns the error of a broken constraint. By ON CONFLICT ROLLBACK it takes the transaction
// with it.
func (t TableWriter) abort(c syntax.Conflict, err error) error {
	if c == syntax.ConflictRollback {
		return t.spoil(err)
	}
	return err
}

// resolveUnique applies the clauses of the unique constraints to the row that was prepared, which
// is to be inserted, or to take the place of old. It returns errIgnored for a row that is left out.
// replaced reports whether another row was deleted: then nothing that points into pages is valid
// any more, and the row must be prepared again, and resolved again.
func (t TableWriter) resolveUnique(rowid int64, old *Row) (replaced bool, err error) {
	r := t.clauses()
	if r == nil {
		return false, nil
	}
	for _, u := range r.unique {
		found, other, err := t.conflicting(u.index, rowid, old)
		switch {
		case err != nil:
			return false, err
		case !found:
		case u.conflict == syntax.ConflictIgnore:
			return false, errIgnored
		case u.conflict == syntax.ConflictReplace:
			return true, other()
		case u.index != nil:
			return false, t.abort(u.conflict, u.index.duplicate(t.def))
		case t.def.Key != nil:
			return false, t.abort(u.conflict, t.duplicateKey())
		default:
			return false, t.abort(u.conflict, t.duplicateRow())
		}
	}
	return false, nil
}

// conflicting looks for another row with the key of the one that was prepared, in an index or, if
// it is nil, in the table, and returns how to delete it.
func (t TableWriter) conflicting(x *indexState, rowid int64, old *Row) (found bool, other func() error, err error) {
	s := t.state
	t.only = 0 // all of another row goes
	if x == nil {
		if old != nil {
			return false, nil, nil // its key stays
		}
		if t.def.Key == nil {
			found, err = s.tree.SeekRow(rowid)
			return found, func() error { _, err := t.Delete(rowid); return err }, err
		}
		found, err = s.tree.SeekKey(s.record, len(t.def.Key))
		if err != nil || !found {
			return false, nil, err
		}
		entry, err := s.tree.Entry()
		return true, t.deleterOf(entry, nil), err
	}
	if len(x.new) == 0 || hasNull(x.new, x.def.terms) {
		return false, nil, nil
	}
	if found, err = x.tree.SeekKey(x.new, x.def.terms); err != nil || !found {
		return false, nil, err
	}
	entry, err := x.tree.Entry()
	if err != nil || old != nil && bytes.Equal(entry, x.old) {
		return false, nil, err
	}
	return true, t.deleterOf(entry, x), nil
}

// deleterOf returns a function that deletes the row of an index entry or, if index is nil, of the
// table.
func (t TableWriter) deleterOf(entry []byte, x *indexState) func() error {
	var fields []record.Value
	values := record.Read(entry)
	count := len(t.def.Key)
	if x != nil {
		count = len(x.fields)
	}
	for range count {
		f := values.Next()
		fields = append(fields, record.Decode(f.Type, slices.Clone(f.Data), t.tx.pager.Header.Encoding))
	}
	if t.def.Key == nil {
		return func() error { _, err := t.Delete(fields[count-1].Int()); return err }
	}
	key := make([]any, 0, keyRoom)
	for i, c := range t.def.ddl.PrimaryKey {
		if x != nil {
			i = slices.IndexFunc(x.def.stored, func(s ddl.IndexedColumn) bool { return s.Column == c.Column })
		}
		key = append(key, fields[i])
	}
	return func() error { _, err := t.DeleteKey(key...); return err }
}

// settleInsert applies the clauses to a row to insert that was prepared, with its record.
func (t TableWriter) settleInsert(rowid int64, values []any) error {
	for {
		replaced, err := t.resolveUnique(rowid, nil)
		if err != nil || !replaced {
			return err
		}
		if err = t.prepare(rowid, values); err == nil {
			t.state.record, err = t.state.row.record(t.state.record, t.state.fields, values)
		}
		if err != nil {
			return err
		}
	}
}

// settleUpdate applies the clauses to a row that was prepared, with its record and its old entries,
// and is to take the place of row. That is read again if other rows were deleted.
func (t TableWriter) settleUpdate(row *Row, rowid int64, values []any) error {
	for {
		replaced, err := t.resolveUnique(rowid, row)
		if err != nil || !replaced {
			return err
		}
		if err := t.again(row, rowid, values); err != nil {
			return err
		}
	}
}

// again prepares a row that is to take the place of row once more, which it reads again.
func (t TableWriter) again(row *Row, rowid int64, values []any) (err error) {
	if err = t.prepareUpdate(rowid, values); err != nil {
		return err
	}
	s := t.state
	if s.record, err = s.row.record(s.record, s.fields, values); err != nil {
		return err
	}
	ok := false
	if t.def.Key == nil {
		*row, ok, err = t.Get(rowid)
	} else if key, e := t.keyOf(values); e == nil {
		*row, ok, err = t.Find(key...)
	}
	switch {
	case err == nil && !ok && t.state.foreign != nil:
		return errIgnored // an action of a foreign key of a replaced row has deleted it
	case err != nil || !ok:
		return t.spoil(cmp.Or(err, t.tx.pager.Corrupt(t.def.Root, faultLost)))
	}
	return t.oldEntries(row)
}

// keyOf returns the primary key of the row that was loaded, of a table WITHOUT ROWID.
func (t TableWriter) keyOf(values []any) ([]any, error) {
	key := make([]any, 0, keyRoom)
	for _, c := range t.def.ddl.PrimaryKey {
		v, err := t.state.row.value(c.Column, values)
		if err != nil {
			return nil, err
		}
		v = v.Clone()
		key = append(key, v)
	}
	return key, nil
}

// ownValues returns values that stay as they are while rows are deleted (see own).
func ownValues(values []any) []any {
	all := make([]any, 0, len(values))
	for _, v := range values {
		switch v := own(v).(type) {
		case []byte:
			all = append(all, slices.Clone(v))
		case Value:
			v.v = v.v.Clone()
			all = append(all, v)
		case record.Value:
			v = v.Clone()
			all = append(all, v)
		default:
			all = append(all, v)
		}
	}
	return all
}
