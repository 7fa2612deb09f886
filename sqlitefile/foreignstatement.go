package sqlitefile

import (
	"fmt"
	"math"
	"slices"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"

	"github.com/foliofs/folio/internal/ddl"
)

// enforces reports whether a call is a statement that foreign keys must be checked after, and
// not a part of one.
func (t TableWriter) enforces() bool {
	return t.state.foreign != nil && t.state.shared.statement == nil
}

// statement calls fn, which changes rows, with the foreign keys enforced: all of it has happened,
// with the actions, or nothing.
func (t TableWriter) statement(fn func() error) error {
	return t.tx.Nested(func(tx *Tx) error {
		s := &foreignStatement{}
		work := t.state.shared
		work.statement = s
		defer func() { work.statement = nil }()
		if err := fn(); err != nil {
			return err
		}
		return s.finish(tx)
	})
}

// finish checks the keys that must be checked after each statement, and leaves the deferred ones
// to the transaction.
func (s *foreignStatement) finish(tx *Tx) error {
	for _, c := range s.checks {
		if c.key.Deferred {
			tx.deferred = append(tx.deferred, c)
			continue
		}
		if err := c.check(tx); err != nil {
			return err
		}
	}
	return nil
}

// checkOwn wants a row that was loaded and written to have its parents, at the end of the statement
// at the latest.
func (t TableWriter) checkOwn(rowid int64, values []any) error {
	if t.state.foreign == nil {
		return nil
	}
	row, statement := &t.state.row, t.state.shared.statement
	for _, k := range t.state.foreign.own {
		key, whole := row.keyOf(k.Columns, rowid, values)
		if !whole || !t.givesParent(k) {
			continue // NULL refers to nothing
		}
		if self, same := k.ownParent(row, key, rowid, values); self {
			if !same {
				statement.checks = append(statement.checks, foreignCheck{key: k})
			}
			continue
		}
		ok, err := k.parentExists(t.tx, key)
		if err != nil {
			return err
		}
		if !ok {
			statement.checks = append(statement.checks, foreignCheck{k, key})
		}
	}
	return nil
}

// changes reports whether a change of one column, or of all (see rowBuilder.only), can give a row
// another parent.
func (k *foreignKey) changes(only int) bool {
	return only <= 0 || slices.Contains(k.Columns, only-1) || k.toItself() && slices.Contains(k.to, only-1)
}

// givesParent reports whether the change of the row that was loaded can give it another parent.
func (t TableWriter) givesParent(k *foreignKey) bool {
	if t.set == nil {
		return k.changes(t.state.row.only)
	}
	generated := func(c int) bool { return t.def.ddl.Columns[c].Generated != nil }
	return slices.ContainsFunc(t.set, func(c int) bool { return k.changes(c + 1) }) || slices.ContainsFunc(k.Columns, generated)
}

// toItself reports whether the parent is the child's own table.
func (k *foreignKey) toItself() bool { return ddl.EqualFold(k.child, k.parent.shape.name) }

// ownParent reports whether the row that was loaded has the key which it refers to. SQLite looks
// for a parent before the row is written, so that the row is none to itself unless both keys are
// the same before any affinity and collation.
func (k *foreignKey) ownParent(row *rowBuilder, key []record.Value, rowid int64, values []any) (self, same bool) {
	if !k.toItself() || k.index == nil && !k.parent.ddl.WithoutRowid {
		return false, false // a rowid equals the key that leads to it
	}
	own, whole := row.keyOf(k.to, rowid, values)
	self, same = whole, whole
	for i := 0; i < len(own) && self; i++ {
		c := &k.parent.ddl.Columns[k.to[i]]
		self = value.Same(value.Apply(key[i], c.Affinity), own[i], value.AffinityBlob, value.AffinityBlob, c.Collation)
		same = same && value.Same(key[i], own[i], value.AffinityBlob, value.AffinityBlob, "")
	}
	return self, same
}

// A parentKey is the key of a row that other rows may refer to, as it was and as it is.
type parentKey struct {
	key      *foreignKey
	old, new []record.Value // new is nil if the row is gone
	gone     bool
}

// parentKeys returns the keys of a row that is about to be changed or deleted, by which other rows
// may refer to it.
func (t TableWriter) parentKeys(row *Row) (list []parentKey, err error) {
	if t.state.foreign == nil {
		return nil, nil
	}
	for _, k := range t.state.foreign.referring {
		old, whole, err := rowKey(k.to, row)
		if err != nil {
			return nil, err
		}
		if whole {
			list = append(list, parentKey{key: k, old: old, gone: true})
		}
	}
	return list, nil
}

// setNew notes the keys of the row that was loaded, and leaves out unchanged ones.
func (t TableWriter) setNew(list []parentKey, rowid int64, values []any) []parentKey {
	kept := list[:0]
	for _, p := range list {
		p.new, _ = t.state.row.keyOf(p.key.to, rowid, values)
		p.gone = false
		if !p.key.sameKey(p.old, p.new) {
			kept = append(kept, p)
		}
	}
	return kept
}

// sameKey reports whether two keys of the parent are the same by its collations.
func (k *foreignKey) sameKey(a, b []record.Value) bool {
	for i := range a {
		c := &k.parent.ddl.Columns[k.to[i]]
		if !value.Same(a[i], b[i], c.Affinity, c.Affinity, c.Collation) {
			return false
		}
	}
	return true
}

// followed applies the actions of foreign keys to the children of keys that are gone or have
// changed.
func (t TableWriter) followed(list []parentKey) error {
	if len(list) == 0 {
		return nil
	}
	s := t.state.shared.statement
	if s.depth++; s.depth > maxForeignDepth {
		return fmt.Errorf("%s: the actions of foreign keys go deeper than %d", t.Name(), maxForeignDepth)
	}
	defer func() { s.depth-- }()
	for _, p := range list {
		if err := p.act(t.tx); err != nil {
			return err
		}
	}
	return nil
}

// act is followed for one foreign key.
func (p *parentKey) act(tx *Tx) error {
	action, most, belongs := p.key.OnUpdate, math.MaxInt, p.key.follows
	if p.gone {
		action = p.key.OnDelete
	}
	if action == syntax.ActionNone {
		belongs = p.key.refers
	}
	if action == syntax.ActionNone || action == syntax.ActionRestrict {
		most = 1
	}
	child, err := tx.Rx.Table(p.key.child)
	if err != nil {
		return err
	}
	children, err := p.key.children(tx, p.old, belongs, most)
	if err == nil && action != syntax.ActionNone && !p.key.comparable(child.def.ddl) {
		err = p.passedOver(tx)
	}
	if err != nil || len(children) == 0 {
		return err
	}
	switch action {
	case syntax.ActionRestrict:
		return p.key.violation(true)
	case syntax.ActionNone:
		p.check(tx, p.old)
		return nil
	}
	t, err := tx.Table(p.key.child)
	if err != nil {
		return err
	}
	for _, c := range children {
		if action == syntax.ActionCascade && p.gone {
			err = t.deleteChild(c)
		} else {
			err = t.updateChild(p, action, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// check lets a key be checked after the statement, or the transaction.
func (p *parentKey) check(tx *Tx, values []record.Value) {
	s := tx.writeState().statement
	s.checks = append(s.checks, foreignCheck{p.key, values})
}

// passedOver lets the key be checked for children that its action passes over. A child which the
// action changes, and which refers to another parent, too, is a violation for SQLite.
func (p *parentKey) passedOver(tx *Tx) error {
	p.check(tx, p.old)
	twice := func(child *ddl.Table, row *Row, values []record.Value) (bool, error) {
		for _, belongs := range []relation{p.key.refers, p.key.follows} {
			if ok, err := belongs(child, row, values); err != nil || !ok {
				return false, err
			}
		}
		key, whole, err := rowKey(p.key.Columns, row)
		if err != nil || !whole {
			return false, err
		}
		return p.key.parentExists(tx, key)
	}
	list, err := p.key.children(tx, p.old, twice, 1)
	if len(list) > 0 {
		p.check(tx, nil)
	}
	return err
}

func (t TableWriter) deleteChild(c childRow) (err error) {
	if t.def.Key == nil {
		_, err = t.Delete(c.rowid)
	} else {
		_, err = t.DeleteKey(c.key...)
	}
	return err
}

// updateChild gives a child the new key of its parent, NULL or its defaults.
func (t TableWriter) updateChild(p *parentKey, action syntax.Action, c childRow) error {
	for _, i := range p.key.Columns {
		if i == t.def.shape.alias || t.def.Key != nil && t.def.ddl.Columns[i].PrimaryKey {
			return fmt.Errorf("%s.%s: %w: a foreign key whose action changes the primary key", t.Name(), t.def.shape.fields[i].name, ErrUnsupported)
		}
	}
	var row Row
	var ok bool
	var err error
	if t.def.Key == nil {
		row, ok, err = t.Get(c.rowid)
	} else {
		row, ok, err = t.Find(c.key...)
	}
	if err != nil || !ok {
		return err // an action before has deleted it
	}
	values, err := t.withKey(&row, p, action)
	if err != nil {
		return err
	}
	if t.def.Key != nil {
		return t.PutKey(values...)
	}
	_, err = t.Update(c.rowid, values...)
	return err
}

// withKey returns the values of a child's row, copied, with another foreign key.
func (t TableWriter) withKey(row *Row, p *parentKey, action syntax.Action) ([]any, error) {
	values := make([]any, len(t.def.shape.fields))
	for i := range values {
		if t.def.ddl.Columns[i].Generated != nil {
			continue
		}
		v, err := row.value(i)
		if err != nil {
			return nil, err
		}
		v = v.Clone()
		values[i] = v
	}
	for i, c := range p.key.Columns {
		values[c] = nil
		switch {
		case action == syntax.ActionSetDefault && !t.def.defaults[c].known:
			return nil, fmt.Errorf("%s.%s: %w: the default of SET DEFAULT", t.Name(), t.def.shape.fields[c].name, ErrUnsupported)
		case action == syntax.ActionSetDefault:
			values[c] = t.def.defaults[c].at(&t.tx.Rx)
		case action == syntax.ActionCascade:
			values[c] = p.new[i]
		}
	}
	return values, nil
}
