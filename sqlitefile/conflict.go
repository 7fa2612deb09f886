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
	check   syntax.Conflict   // of all CHECKs: the OR clause of a statement
	unique  []uniqueRule      // in the order in which they are looked at
}

// A uniqueRule is the clause of a unique index, or of the key of the table if index is nil.
type uniqueRule struct {
	index    *indexState
	conflict syntax.Conflict
	upsert   int // the clause of an upsert that the conflict is for, counted from 1
}

// errIgnored says that a row is left as it is because of ON CONFLICT IGNORE.
var errIgnored = errors.New("ignored")

// An upsertError says that a row is not inserted, as a clause of an upsert changes another one.
type upsertError struct {
	clause int
	row    childRow
}

func (e *upsertError) Error() string { return "another row is to be changed" }

// withoutIgnored returns an error that a caller is to see.
func withoutIgnored(err error) error {
	if err == errIgnored {
		return nil
	}
	return err
}

// leaveOut keeps AUTOINCREMENT from giving a rowid again, even if its row is left out.
func (t TableWriter) leaveOut(rowid int64) error {
	if !t.state.counted {
		return nil
	}
	if t.counter != nil {
		*t.counter = max(*t.counter, rowid)
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
	keyConflict := note(t.KeyConflict)
	auto := t.AutoIndexes()
	constraints := make([]uniqueRule, len(auto))
	for _, x := range slices.Backward(s.indexes) { // SQLite looks at the latest first, and at indexes of constraints last
		named := func(a ddl.AutoIndex) bool { return ddl.EqualFold(a.Name, x.def.shape.name) }
		if i := slices.IndexFunc(auto, named); i >= 0 {
			constraints[len(auto)-1-i] = uniqueRule{index: x, conflict: note(auto[i].OnConflict)}
		} else if x.def.unique {
			r.unique = append(r.unique, uniqueRule{index: x})
		}
	}
	r.unique = append(r.unique, constraints...)
	key := 0 // a rowid is looked at first
	if t.WithoutRowid {
		key = len(r.unique) - constraintsBefore(auto)
	}
	r.unique = slices.Insert(r.unique, key, uniqueRule{conflict: keyConflict})
	slices.SortStableFunc(r.unique, func(a, b uniqueRule) int {
		return boolInt(a.conflict == syntax.ConflictReplace) - boolInt(b.conflict == syntax.ConflictReplace)
	})
	if s.clauses = r; any {
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
	if t.resolution != nil {
		return t.resolution
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

// resolveGenerated applies the clause of CHECK, and that of NOT NULL to a generated column, given
// the error of computing the row. REPLACE has no default to put there and is an error, as in
// SQLite.
func (t TableWriter) resolveGenerated(err error) error {
	var broken *ConstraintError
	r := t.clauses()
	if r == nil || !errors.As(err, &broken) {
		return err
	}
	if broken.Kind == ConstraintCheck {
		if r.check == syntax.ConflictIgnore {
			return errIgnored
		}
		return t.abort(r.check, err)
	}
	if broken.Kind != ConstraintNotNull {
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
	if broken := (*ConstraintError)(nil); errors.As(err, &broken) {
		broken.clause = c
	}
	if c == syntax.ConflictRollback {
		return t.spoil(err)
	}
	return err
}

// resolveUnique applies the clauses of the unique constraints to the row that was prepared, which
// is to be inserted, or to take the place of old. It returns errIgnored for a row that is left out,
// and an upsertError for one that an upsert is to change. replaced reports whether another row was
// deleted: then nothing that points into pages is valid any more, and the row must be prepared
// again, and resolved again.
func (t TableWriter) resolveUnique(rowid int64, old *Row) (replaced bool, err error) {
	r := t.clauses()
	if r == nil {
		return false, nil
	}
	for _, u := range r.unique {
		other, found, err := t.conflicting(u.index, rowid, old)
		switch {
		case err != nil:
			return false, err
		case !found:
		case u.upsert > 0:
			return false, &upsertError{u.upsert - 1, other}
		case u.conflict == syntax.ConflictIgnore:
			return false, errIgnored
		case u.conflict == syntax.ConflictReplace:
			t.only = 0 // all of another row goes
			return true, t.deleteChild(other)
		case u.index != nil:
			return false, t.abort(u.conflict, u.index.duplicate(t.def))
		default:
			return false, t.abort(u.conflict, t.duplicate())
		}
	}
	return false, nil
}

// duplicate is the error of a rowid, or a primary key, that another row has.
func (t TableWriter) duplicate() error {
	if t.def.Key != nil {
		return t.duplicateKey()
	}
	return t.duplicateRow()
}

// conflicting looks for another row with the key of the one that was prepared, in an index or, if
// it is nil, in the table.
func (t TableWriter) conflicting(x *indexState, rowid int64, old *Row) (other childRow, found bool, err error) {
	s := t.state
	if x == nil {
		if t.def.Key == nil {
			if old != nil && old.rowid == rowid {
				return other, false, nil
			}
			found, err = s.tree.SeekRow(rowid)
			return childRow{rowid: rowid}, found, err
		}
		found, err = s.tree.SeekKey(s.record, len(t.def.Key))
		if err != nil || !found {
			return other, false, err
		}
		entry, err := s.tree.Entry()
		if err != nil || old != nil && bytes.Equal(entry, s.old) {
			return other, false, err
		}
		return t.rowOf(entry, nil), true, nil
	}
	if len(x.new) == 0 || hasNull(x.new, x.def.terms) {
		return other, false, nil
	}
	if found, err = x.tree.SeekKey(x.new, x.def.terms); err != nil || !found {
		return other, false, err
	}
	entry, err := x.tree.Entry()
	if err != nil || old != nil && bytes.Equal(entry, x.old) {
		return other, false, err
	}
	return t.rowOf(entry, x), true, nil
}

// rowOf returns the row of an index entry or, if index is nil, of the table.
func (t TableWriter) rowOf(entry []byte, x *indexState) (row childRow) {
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
		return childRow{rowid: fields[count-1].Int()}
	}
	for i, c := range t.def.ddl.PrimaryKey {
		if x != nil {
			i = slices.IndexFunc(x.def.stored, func(s ddl.IndexedColumn) bool { return s.Column == c.Column })
		}
		row.key = append(row.key, fields[i])
	}
	return row
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
	if t.clauses() == nil {
		return nil
	}
	self, err := identify(t.def.ddl, row)
	if err != nil {
		return err
	}
	for {
		replaced, err := t.resolveUnique(rowid, row)
		if err != nil || !replaced {
			return err
		}
		if err := t.again(self, row, rowid, values); err != nil {
			return err
		}
	}
}

// again prepares a row that is to take the place of self once more, which it reads again.
func (t TableWriter) again(self childRow, row *Row, rowid int64, values []any) (err error) {
	if err = t.prepareUpdate(rowid, values); err != nil {
		return err
	}
	s := t.state
	if s.record, err = s.row.record(s.record, s.fields, values); err != nil {
		return err
	}
	ok := false
	if t.def.Key == nil {
		*row, ok, err = t.Get(self.rowid)
	} else {
		*row, ok, err = t.Find(self.key...)
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
