package sqlitefile

import (
	"cmp"
	"fmt"
)

// insertKey adds a row to a table WITHOUT ROWID.
func (t TableWriter) insertKey(values []any) (err error) {
	s := t.state
	if values, err = t.resolveNulls(values, anyColumn); err != nil {
		return err
	}
	if err := t.prepare(0, values); err != nil {
		return err
	}
	if s.record, err = s.row.record(s.record, s.fields, values); err != nil {
		return err
	}
	if err := t.settleInsert(0, values); err != nil {
		return err
	}
	added, err := s.tree.InsertKey(s.record, len(t.def.Key))
	if err != nil {
		return t.spoil(err)
	}
	if !added {
		return t.duplicateKey()
	}
	if err := t.insertEntries(func() error { _, err := s.tree.DeleteKey(s.record); return err }); err != nil {
		return err
	}
	return t.checkOwn(0, values)
}

func (t TableWriter) duplicateKey() error {
	e := &ConstraintError{Kind: ConstraintUnique, Table: t.Name()}
	for _, c := range t.def.ddl.PrimaryKey {
		e.Columns = append(e.Columns, t.def.shape.fields[c.Column].name)
	}
	return e
}

// PutKey adds a row to a table WITHOUT ROWID, or replaces the row with its primary key.
func (t TableWriter) PutKey(values ...any) (err error) {
	if t.enforces() {
		err = t.statement(func() error { return t.PutKey(values...) })
		return err
	}
	if err := t.ready(); err != nil {
		return err
	}
	if t.def.Key == nil {
		return fmt.Errorf("%s: has rowids: use Put", t.Name())
	}
	s, given := t.state, values
	if t.partial() {
		if values, err = t.complete(nil, values); err != nil {
			return err
		}
	}
	if values, err = t.resolveNulls(values, anyColumn); err != nil {
		return withoutIgnored(err)
	}
	s.row.only = anyColumn
	if err := s.row.load(0, values); err != nil {
		return err
	}
	key, err := t.keyOf(values)
	if err != nil {
		return err
	}
	row, ok, err := t.Find(key...)
	if err != nil {
		return err
	}
	if !ok {
		return withoutIgnored(t.insertKey(values))
	}
	if t.partial() {
		if values, err = t.complete(&row, given); err != nil {
			return err
		}
	}
	return withoutIgnored(t.replace(&row, 0, values, func() error {
		_, err := s.tree.PutKey(s.record)
		return err
	}))
}

// DeleteKey deletes the rows of a table WITHOUT ROWID whose primary key begins with the given
// values, and returns how many there were. At least one value must be given.
func (t TableWriter) DeleteKey(key ...any) (n int64, err error) {
	if t.enforces() {
		err = t.statement(func() (err error) { n, err = t.DeleteKey(key...); return err })
		return n, err
	}
	if t.def.Key == nil {
		return 0, fmt.Errorf("%s: has rowids: use Delete", t.Name())
	}
	s := t.state
	for {
		if err := t.ready(); err != nil {
			return n, err
		}
		row, ok, err := t.Find(key...)
		if err != nil || !ok {
			return n, err
		}
		if err := t.oldEntries(&row); err != nil {
			return n, err
		}
		keys, err := t.parentKeys(&row)
		if err != nil {
			return n, err
		}
		if ok, err := s.tree.DeleteKey(s.old); err != nil || !ok {
			return n, t.spoil(cmp.Or(err, t.tx.pager.Corrupt(t.def.Root, faultLost)))
		}
		if err := t.deleteEntries(); err != nil {
			return n, err
		}
		if err := t.followed(keys); err != nil {
			return n, err
		}
		n++
	}
}
