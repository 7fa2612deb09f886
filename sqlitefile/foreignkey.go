package sqlitefile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/foliofs/folio/internal/sql/value"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// A foreignKey is a foreign key that is enforced.
type foreignKey struct {
	ddl.ForeignKey
	child  string
	parent *tableDef
	to     []int     // the columns of the parent's key, as Columns are the child's
	index  *indexDef // of the parent's key; nil if that is the rowid or the primary key of a table WITHOUT ROWID
	order  []int     // the places in to of the columns of that key, in its own order
}

// foreignKeys are the foreign keys of a table, and the ones, in any table, that refer to it.
type foreignKeys struct {
	own, referring []*foreignKey
}

// A foreignCheck is a key that may have children without a parent once a statement, or the
// transaction, is over. Without values it is broken, whatever comes: SQLite counts a violation that
// nothing takes back.
type foreignCheck struct {
	key    *foreignKey
	values []record.Value
}

// A foreignStatement is one call that changes rows, with all that its foreign keys change.
type foreignStatement struct {
	checks []foreignCheck
	depth  int
}

// maxForeignDepth is how deep actions may lead to further actions, as SQLite limits it.
const maxForeignDepth = 1000

// foreignKeys returns the foreign keys of a table that are enforced, or nil.
func (tx *Tx) foreignKeys(def *tableDef) (*foreignKeys, error) {
	if !tx.enforcing || def == &schemaTable {
		return nil, nil
	}
	objects, err := tx.Objects()
	if err != nil {
		return nil, err
	}
	all := &foreignKeys{}
	for _, o := range objects {
		if o.Type != "table" || o.Root == 0 {
			continue
		}
		t, err := ddl.ParseTable(o.SQL)
		if err != nil {
			continue // no statement with a foreign key that SQLite could read
		}
		if err := tx.addForeignKeys(all, o.Name, t, def); err != nil {
			return nil, err
		}
	}
	slices.Reverse(all.referring) // SQLite lets the last one act first
	switch {
	case len(all.own)+len(all.referring) == 0:
		return nil, nil
	case tx.pager.Header.Encoding > format.UTF8:
		return nil, tx.refusal(def.ddl, "a foreign key, in a database of UTF-16")
	}
	return all, nil
}

// addForeignKeys adds those foreign keys of a table that concern another, or itself.
func (tx *Tx) addForeignKeys(all *foreignKeys, child string, t *ddl.Table, def *tableDef) error {
	isChild := ddl.EqualFold(child, def.shape.name)
	for _, f := range t.ForeignKeys {
		isParent := ddl.EqualFold(f.Table, def.shape.name)
		if !isChild && !isParent {
			continue
		}
		k, err := tx.resolveForeignKey(child, f)
		if err != nil {
			return err
		}
		if isChild {
			all.own = append(all.own, k)
		}
		if isParent {
			all.referring = append(all.referring, k)
		}
	}
	return nil
}

// resolveForeignKey finds the key of the parent that a foreign key refers to.
func (tx *Tx) resolveForeignKey(child string, f ddl.ForeignKey) (*foreignKey, error) {
	p, err := tx.Rx.Table(f.Table)
	if err != nil {
		return nil, err
	}
	k := &foreignKey{ForeignKey: f, child: child, parent: p.def}
	t := p.def.ddl
	for _, name := range f.Parents {
		k.to = append(k.to, t.ColumnIndex(name))
	}
	if f.Parents == nil {
		for _, c := range t.PrimaryKey {
			k.to = append(k.to, c.Column)
		}
	}
	found := len(k.to) == len(f.Columns) && !slices.Contains(k.to, -1)
	if found {
		found, err = k.locate(tx)
	}
	if err == nil && !found {
		err = tx.db.pager.PathError("write", fmt.Errorf("foreign key mismatch: %s refers to columns of %s that are no key", child, t.Name))
	}
	return k, err
}

// locate finds the key of the parent: the rowid, the primary key of a table WITHOUT ROWID, or a
// unique index.
func (k *foreignKey) locate(tx *Tx) (bool, error) {
	t := k.parent.ddl
	if len(k.to) == 1 && k.to[0] == t.RowidAlias {
		return true, nil
	}
	if t.WithoutRowid && k.matches(t, t.PrimaryKey) {
		return true, nil
	}
	objects, err := tx.Objects()
	if err != nil {
		return false, err
	}
	for _, o := range objects {
		if o.Type != "index" || !ddl.EqualFold(o.Table, t.Name) {
			continue
		}
		x, err := tx.Index(o.Name)
		if err != nil {
			return false, err
		}
		if x.def.unique && x.def.where == "" && k.matches(t, x.def.stored[:x.def.terms]) {
			k.index = x.def
			return true, nil
		}
	}
	return false, nil
}

// matches reports whether a key has the columns that are referred to, with their own collations.
func (k *foreignKey) matches(t *ddl.Table, terms []ddl.IndexedColumn) bool {
	k.order = k.order[:0]
	for _, c := range terms {
		i := slices.Index(k.to, c.Column)
		if i < 0 || !ddl.EqualFold(c.Collation, t.Columns[c.Column].Collation) {
			return false
		}
		k.order = append(k.order, i)
	}
	return len(terms) == len(k.to)
}

// rowKey returns the values of columns of a row that was read, copied, and whether none of them is
// NULL.
func rowKey(columns []int, row *Row) (key []record.Value, whole bool, err error) {
	key, whole = make([]record.Value, len(columns)), true
	for i, c := range columns {
		v, err := row.value(c)
		if err != nil {
			return nil, false, err
		}
		v = v.Clone()
		key[i] = v
		whole = whole && v.Kind() != record.Null
	}
	return key, whole, nil
}

// keyOf returns the values of columns of the row that was loaded, copied, and whether none of them
// is NULL.
func (r *rowBuilder) keyOf(columns []int, rowid int64, values []any) (key []record.Value, whole bool) {
	var arena []byte
	key, whole = make([]record.Value, len(columns)), true
	for i, c := range columns {
		if key[i] = record.OfInt(rowid); c != r.alias {
			key[i] = r.exprValue(c, values, &arena)
			key[i] = key[i].Clone()
		}
		whole = whole && key[i].Kind() != record.Null
	}
	return key, whole
}

// parentExists reports whether the parent has a row with a key.
func (k *foreignKey) parentExists(tx *Tx, values []record.Value) (ok bool, err error) {
	t := k.parent.ddl
	p := Table{&tx.Rx, k.parent}
	if k.index == nil && !t.WithoutRowid {
		v := value.Apply(values[0], value.AffinityInteger)
		if v.Kind() != record.Integer {
			return false, nil
		}
		_, ok, err = p.Get(v.Int())
		return ok, err
	}
	parts := make([]any, len(k.order))
	for i, j := range k.order {
		parts[i] = value.Apply(values[j], t.Columns[k.to[j]].Affinity)
	}
	if k.index == nil {
		_, ok, err = p.Find(parts...)
	} else {
		_, ok, err = Index{&tx.Rx, k.index}.FindRow(parts...)
	}
	return ok, err
}

// A childRow identifies a row of a child: by its rowid, or by its primary key.
type childRow struct {
	rowid int64
	key   []any
}

// A relation tells whether a row of the child belongs to a key of the parent. There are two:
// refers, and follows.
type relation = func(child *ddl.Table, row *Row, values []record.Value) (bool, error)

// children returns the rows of the child that belong to a key, at most so many.
func (k *foreignKey) children(tx *Tx, values []record.Value, belongs relation, most int) (list []childRow, err error) {
	c, err := tx.Rx.Table(k.child)
	if err != nil {
		return nil, err
	}
	rows, err := k.candidates(tx, c, values)
	if err != nil {
		return nil, err
	}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		ok, err := belongs(c.def.ddl, &row, values)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		child, err := identify(c.def.ddl, &row)
		if list = append(list, child); err != nil || len(list) == most {
			return list, err
		}
	}
	return list, nil
}

func identify(t *ddl.Table, row *Row) (c childRow, err error) {
	c.rowid = row.rowid
	if !t.WithoutRowid {
		return c, nil
	}
	for _, term := range t.PrimaryKey {
		v, err := row.value(term.Column)
		if err != nil {
			return c, err
		}
		v = v.Clone()
		c.key = append(c.key, v)
	}
	return c, nil
}

// refers reports whether a row of the child has a key, by the affinities of both and the collation
// of the parent.
func (k *foreignKey) refers(child *ddl.Table, row *Row, values []record.Value) (bool, error) {
	for i, c := range k.Columns {
		v, err := row.value(c)
		if err != nil {
			return false, err
		}
		p := &k.parent.ddl.Columns[k.to[i]]
		if !value.Same(v, values[i], child.Columns[c].Affinity, p.Affinity, p.Collation) {
			return false, nil
		}
	}
	return true, nil
}

// follows reports whether an action for a key changes a row of the child. SQLite's actions compare
// with the affinity of the child alone, unless the key is a rowid, so that they may pass over rows
// that refer to the key, and the other way round.
func (k *foreignKey) follows(child *ddl.Table, row *Row, values []record.Value) (bool, error) {
	if k.index == nil && !k.parent.ddl.WithoutRowid {
		return k.refers(child, row, values)
	}
	for i, c := range k.Columns {
		v, err := row.value(c)
		if err != nil {
			return false, err
		}
		a := child.Columns[c].Affinity
		if !value.Same(v, value.Apply(values[i], a), a, a, k.parent.ddl.Columns[k.to[i]].Collation) {
			return false, nil
		}
	}
	return true, nil
}

// candidates yields the rows of the child among which those with a key are: all, unless an index
// leads to fewer.
func (k *foreignKey) candidates(tx *Tx, c Table, values []record.Value) (func(yield func(Row, error) bool), error) {
	if len(k.Columns) == 1 && k.Columns[0] == c.def.shape.alias {
		v := value.Apply(values[0], value.AffinityInteger)
		return c.Range(v.Int(), v.Int()), nil
	}
	if c.def.Key != nil || !k.comparable(c.def.ddl) {
		return c.All(), nil
	}
	def, err := tx.indexOn(c, k.Columns)
	if err != nil || def == nil {
		return c.All(), err
	}
	parts := make([]any, len(values))
	for i, v := range values {
		parts[i] = value.Apply(v, c.def.ddl.Columns[k.Columns[i]].Affinity)
	}
	return func(yield func(Row, error) bool) {
		for entry, err := range (Index{&tx.Rx, def}).Prefix(parts...) {
			var row Row
			if err == nil {
				row, _, err = c.Get(entry.rowid)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}, nil
}

// comparable reports whether child and parent compare their columns alike, so that an index of the
// child finds the key of the parent.
func (k *foreignKey) comparable(child *ddl.Table) bool {
	for i, c := range k.Columns {
		a, b := &child.Columns[c], &k.parent.ddl.Columns[k.to[i]]
		numeric := a.Affinity >= value.AffinityNumeric && b.Affinity >= value.AffinityNumeric
		if !numeric && a.Affinity != b.Affinity || !ddl.EqualFold(a.Collation, b.Collation) {
			return false
		}
	}
	return true
}

// check returns an error if the key has children and no parent.
func (c foreignCheck) check(tx *Tx) error {
	if c.values == nil {
		return c.key.violation(false)
	}
	ok, err := c.key.parentExists(tx, c.values)
	if err != nil || ok {
		return err
	}
	list, err := c.key.children(tx, c.values, c.key.refers, 1)
	if err != nil || len(list) == 0 {
		return err
	}
	return c.key.violation(false)
}

// violation returns the error of a statement that breaks the key, or that the action RESTRICT of
// the key refuses.
func (k *foreignKey) violation(restricted bool) error {
	what := fmt.Sprintf("%s to %s", k.child, cmp.Or(k.parent.shape.name, k.Table))
	return &ConstraintError{Kind: ConstraintForeignKey, Table: k.child, What: what, restricted: restricted}
}

// involve reports whether a column belongs to a foreign key, or to a key that one refers to.
func (f *foreignKeys) involve(column int) bool {
	if f == nil {
		return false
	}
	own := func(k *foreignKey) bool { return slices.Contains(k.Columns, column) }
	referred := func(k *foreignKey) bool { return slices.Contains(k.to, column) }
	return slices.ContainsFunc(f.own, own) || slices.ContainsFunc(f.referring, referred)
}
