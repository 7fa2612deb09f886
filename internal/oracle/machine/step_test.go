package machine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/foliofs/folio/internal/oracle/judge"
	oracle "github.com/foliofs/folio/internal/oracle/ours"
)

// An op is one operation of a run, or one end of a transaction or savepoint.
type op struct {
	kind opKind
	seed uint64
}

type opKind int

const (
	opCreateTable opKind = iota
	opDropTable
	opCreateIndex
	opDropIndex
	opInsert
	opInsertRowid
	opUpdate
	opSet
	opPut
	opDelete
	opDeleteRange
	opMany
	opFew
	opScan
	opBegin
	opEnd
	opRollback
	opCompare
	opReopen
	opCheckpoint
	opMode
	opBackup
	opCompact
	opAlter
	opForeign
	opIncremental
	opKinds
)

// weights says how often each kind occurs where each side has a database of its own.
var weights = [opKinds]int{
	opCreateTable: 4, opDropTable: 1, opCreateIndex: 5, opDropIndex: 2, opInsert: 22, opInsertRowid: 8, opUpdate: 12, opSet: 8, opPut: 10, opDelete: 10, opDeleteRange: 2,
	opMany: 8, opFew: 3, opScan: 1, opBegin: 10, opEnd: 9, opRollback: 4, opCompare: 2, opReopen: 2, opCheckpoint: 2, opMode: 2, opBackup: 1, opCompact: 1,
}

// randomOps draws n operations. The first ones make tables.
func randomOps(r *rand.Rand, n int, weights *[opKinds]int) []op {
	var bag []opKind
	for kind, weight := range weights {
		for range weight {
			bag = append(bag, opKind(kind))
		}
	}
	ops := make([]op, n)
	for i := range ops {
		ops[i] = op{pick(r, bag), r.Uint64()}
		if i < 2 {
			ops[i].kind = opCreateTable
		}
	}
	return ops
}

// step does one operation on all sides.
func (m *machine) step(kind opKind) error {
	switch kind {
	case opCreateTable:
		return m.createTable()
	case opDropTable:
		return m.dropTable()
	case opCreateIndex:
		return m.createIndex()
	case opDropIndex:
		return m.dropIndex()
	case opBegin:
		return m.transact()
	}
	if kind >= opCompare {
		if m.level > 0 {
			return nil
		}
		return m.alone(kind)
	}
	t := m.table()
	if t == nil {
		return nil
	}
	if t.keyed() {
		return m.changeKeyed(kind, t)
	}
	return m.changeRows(kind, t)
}

// alone does operations that are impossible within a transaction.
func (m *machine) alone(kind opKind) error {
	switch kind {
	case opCompare:
		return m.compare()
	case opReopen:
		return m.reopen()
	case opCheckpoint:
		return m.checkpoint()
	case opMode:
		return m.changeMode()
	case opBackup:
		return m.backup()
	case opCompact:
		return m.compact()
	case opAlter:
		return m.alter()
	case opForeign:
		return m.foreign()
	case opIncremental:
		return m.incremental()
	}
	return nil
}

// changeRows does an operation on a table with rowids.
func (m *machine) changeRows(kind opKind, t *table) error {
	switch kind {
	case opInsert:
		return m.insert(t, m.values(t, true), true)
	case opInsertRowid:
		rowid, values := m.rowid(), m.values(t, true)
		return m.one(t, "insert at", rowid, func(s side) (int64, error) { return 0, s.insertRowid(t, rowid, values) })
	case opUpdate:
		rowid, values := m.rowid(), m.values(t, true)
		return m.one(t, "update", rowid, func(s side) (int64, error) { return s.replace(t, rowid, values) })
	case opSet:
		return m.set(t)
	case opPut:
		rowid, values := m.rowid(), m.values(t, true)
		return m.one(t, "put", rowid, func(s side) (int64, error) { return 0, s.put(t, rowid, values) })
	case opDelete:
		rowid := m.rowid()
		return m.one(t, "delete", rowid, func(s side) (int64, error) { return s.remove(t, rowid) })
	case opDeleteRange:
		low := m.rowid()
		high := low + int64(m.random.IntN(200))
		if m.random.IntN(20) == 0 {
			low, high = math.MinInt64, math.MaxInt64
		}
		return m.one(t, "delete range from", low, func(s side) (int64, error) { return s.removeRange(t, low, high) })
	case opMany:
		return m.insertMany(t)
	case opFew:
		return m.often(60, func() error {
			rowid := m.rowid()
			return m.one(t, "delete", rowid, func(s side) (int64, error) { return s.remove(t, rowid) })
		})
	}
	return m.scan(t)
}

// set gives one column of a row another value.
func (m *machine) set(t *table) error {
	column := m.random.IntN(len(t.columns))
	if column == t.alias {
		return nil
	}
	rowid, value := m.rowid(), m.values(t, true)[column]
	what := func() string {
		return fmt.Sprintf("%s set column %d of %d: %.300s", t.name, column, rowid, fmt.Sprint(value))
	}
	_, _, err := m.both(what, func(s side) (int64, error) { return s.set(t, rowid, column, value) })
	return err
}

func (m *machine) insertMany(t *table) error {
	return m.often(60, func() error { return m.insert(t, m.values(t, m.random.IntN(40) == 0), false) })
}

func (m *machine) one(t *table, verb string, rowid int64, fn func(s side) (int64, error)) error {
	_, _, err := m.both(func() string { return fmt.Sprint(t.name, " ", verb, " ", rowid) }, fn)
	return err
}

// insert adds a row, at times with a value for the rowid.
func (m *machine) insert(t *table, values []any, alias bool) error {
	if t.alias >= 0 && alias && m.random.IntN(3) == 0 {
		values[t.alias] = pick(m.random, []any{m.rowid(), m.rowid(), float64(m.rowid()), fmt.Sprint(m.rowid()), "x", 1.5})
	}
	var given int64
	maxed, err := m.maxed(t)
	if err != nil || maxed && t.counted && m.level > 0 { // C would roll back the whole transaction
		return err
	}
	_, _, err = m.both(func() string { return fmt.Sprintf("%s insert %.300s", t.name, fmt.Sprint(values)) }, func(s side) (n int64, err error) {
		if s != m.sides[0] && maxed && !t.counted && (t.alias < 0 || values[t.alias] == nil) && given != 0 {
			return given, s.insertRowid(t, given, values)
		}
		given, err = s.insert(t, values)
		return given, err
	})
	return err
}

// maxed reports whether a table has the largest rowid, so that new ones are drawn at random, or
// with AUTOINCREMENT had it.
func (m *machine) maxed(t *table) (bool, error) {
	if !m.edge || t.keyed() {
		return false, nil
	}
	sql := "SELECT count(*) FROM " + t.name + " WHERE rowid = 9223372036854775807"
	if t.counted {
		sql += " UNION ALL SELECT 1 FROM sqlite_sequence WHERE seq = 9223372036854775807 AND name = '" + t.name + "'"
	}
	got, err := m.model.conn.Strings(ctx, sql)
	return err == nil && slices.Contains(got, "1"), err
}

// changeKeyed does an operation on a table WITHOUT ROWID.
func (m *machine) changeKeyed(kind opKind, t *table) error {
	switch kind {
	case opInsert, opInsertRowid:
		return m.insert(t, m.values(t, true), false)
	case opUpdate, opSet, opPut:
		values := m.values(t, true)
		if kind != opPut {
			if err := m.knownKey(t, values); err != nil {
				return err
			}
		}
		_, _, err := m.both(func() string { return fmt.Sprintf("%s put %.300s", t.name, fmt.Sprint(values)) }, func(s side) (int64, error) { return 0, s.putKey(t, values) })
		return err
	case opDelete, opDeleteRange, opFew:
		return m.removeKey(t, kind)
	case opMany:
		return m.insertMany(t)
	}
	return m.scan(t)
}

// removeKey deletes rows by the first values of their keys.
func (m *machine) removeKey(t *table, kind opKind) error {
	n := len(t.key)
	if kind == opDeleteRange {
		n = 1
	}
	remove := func() error { return m.removeOne(t, n) }
	if kind == opFew {
		return m.often(30, remove)
	}
	return remove()
}

// removeOne deletes the rows whose keys begin like that of some row, in n values.
func (m *machine) removeOne(t *table, n int) error {
	values := make([]any, len(t.columns))
	if err := m.knownKey(t, values); err != nil {
		return err
	}
	var key []any
	for _, k := range t.key[:n] {
		key = append(key, values[k.column])
	}
	if m.random.IntN(10) == 0 {
		key[0] = "no such key"
	}
	_, _, err := m.both(func() string { return fmt.Sprintf("%s delete %.300s", t.name, fmt.Sprint(key)) }, func(s side) (int64, error) { return s.removeKey(t, key) })
	return err
}

// knownKey puts the key of some row into values, if there are enough of them.
func (m *machine) knownKey(t *table, values []any) error {
	var exprs []string
	for _, k := range t.key {
		exprs = append(exprs, t.columns[k.column].name)
	}
	for row, err := range m.model.conn.Select(ctx, exprs, t.name+" LIMIT 1 OFFSET ?", int64(m.random.IntN(60))) {
		if err != nil {
			return err
		}
		for i, k := range t.key {
			v := row[i]
			if v.Kind == judge.Blob && v.Bytes == nil {
				v.Bytes = []byte{}
			}
			values[k.column] = oracle.Key(v, m.setup.encoding)
		}
	}
	return nil
}

// scan compares the rows of a table and the entries of its indexes, as the transaction in progress
// sees them.
func (m *machine) scan(t *table) error {
	m.note("%s scan", t.name)
	first, last := m.sides[0], m.sides[len(m.sides)-1]
	got, err := first.rows(t)
	if err != nil {
		return err
	}
	want, err := last.rows(t)
	if err != nil {
		return err
	}
	if err := difference(t.name, got, want); err != nil {
		return err
	}
	for _, x := range t.indexes {
		got, err := first.entries(t, &x)
		if err != nil {
			return err
		}
		want, err := last.entries(t, &x)
		if err != nil {
			return err
		}
		if err := difference(t.name+"."+x.name, got, want); err != nil {
			return err
		}
	}
	return nil
}
