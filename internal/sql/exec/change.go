package exec

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/rewrite"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
	"github.com/foliofs/folio/sqlitefile"
)

// A Change is a compiled INSERT, UPDATE or DELETE. It belongs to one goroutine at a time.
//
// Its rows are those of RETURNING. They are made after all rows have changed, as SQLite makes them.
type Change struct {
	Columns    []bind.Column      // of RETURNING; none without it
	Parameters int                // the largest number of one
	Names      []syntax.Parameter // of parameters
	Cookie     uint32             // of the schema that it was compiled for
	Result     Result             // of the last run

	m      *machine
	writer *rowWriter
	change rows    // changes a row each time that it is asked for one
	kept   *sorted // the rows of RETURNING
	single bool    // INSERT of one row of VALUES
	alone  bool    // it may be one call of the TableWriter, which happens or does not by itself
}

// A Result is what a run of a [Change] has done.
type Result struct {
	Changes  int64 // rows inserted, changed or deleted
	Rowid    int64 // of the last row inserted
	Inserted bool  // there is one with a rowid
}

// CompileChange compiles an INSERT, UPDATE or DELETE.
func CompileChange(c *catalog.Catalog, sql string, p *syntax.Parsed) (*Change, error) {
	if p.Explain != syntax.ExplainNone {
		return nil, &bind.UnsupportedError{What: "EXPLAIN of a statement that changes rows"}
	}
	var b *bind.Change
	var err error
	switch n := p.Statement.(type) {
	case *syntax.Insert:
		b, err = bind.Insert(c, sql, n)
	case *syntax.Update:
		b, err = bind.Update(c, sql, n)
	case *syntax.Delete:
		b, err = bind.Delete(c, sql, n)
	default:
		err = fmt.Errorf("not an INSERT, UPDATE or DELETE")
	}
	if err != nil {
		return nil, err
	}
	s := &Change{Parameters: p.Parameters, Names: p.Names, Cookie: c.Cookie}
	k := newCompiler()
	s.m = k.m
	for _, q := range b.Queries() {
		rewrite.Query(q)
		for src, columns := range neededOf(q) {
			k.needed[src] = columns
		}
	}
	if set := b.Set; set != nil && set.Values != nil { // SQLite plans for all columns that the statement reads
		from := b.Query.Cores[0].Sources[0]
		if k.needed[from] == nil {
			k.needed[from] = make(map[int]bool)
		}
		for column := range k.needed[set.Row] {
			k.needed[from][column] = true
		}
	}
	s.writer = &rowWriter{table: b.Table, or: b.Or}
	switch p.Statement.(type) {
	case *syntax.Insert:
		one := b.Query == nil || len(b.Query.Cores) == 1 && len(b.Query.Cores[0].Values) == 1
		s.single = one && b.Returning == nil && !replaces(b)
		s.alone = s.single && b.Upserts == nil
		s.change, err = k.inserter(b, s.writer)
	case *syntax.Update:
		s.change, err = k.updater(b, s.writer)
	default:
		s.change, err = k.deleter(b, s.writer)
	}
	if err != nil || b.Returning == nil {
		return s, err
	}
	s.Columns = b.Returning.Columns
	s.kept = &sorted{m: k.m, rows: s.change, full: s.change.values, width: len(s.Columns), most: -1, own: true}
	return s, nil
}

// replaces reports whether an INSERT OR REPLACE may have to delete other rows.
func replaces(b *bind.Change) bool {
	unique := func(x *catalog.Index) bool { return x.Unique }
	return b.Or == syntax.ConflictReplace && (b.Rowid >= 0 || b.Table.WithoutRowid || slices.ContainsFunc(b.Table.Indexes, unique))
}

// Run changes the rows, all or, if it fails, none, unless a conflict is resolved by FAIL. Params
// has a value for each parameter. Setting cancel ends the run with [ErrInterrupted].
func (s *Change) Run(tx *sqlitefile.Tx, params []record.Value, cancel *atomic.Bool) error {
	s.m.params, s.m.cancel = params, cancel
	s.m.bind(&tx.Rx)
	w := s.writer
	w.Result = Result{}
	if err := w.open(tx); err != nil {
		return err
	}
	run := s.run
	if !s.alone || !w.writer.Internal(private.Key{}).OneStep() {
		run = func() error { return tx.Internal(private.Key{}).Statement(s.run) }
	}
	err := run()
	s.Result = w.Result
	if err != nil && !Fails(err) {
		s.Result.Changes = 0 // the last rowid stays, as in SQLite
		if broken := (*sqlitefile.ConstraintError)(nil); s.single && errors.As(err, &broken) && broken.Kind == sqlitefile.ConstraintForeignKey && !s.updatesKeys() {
			s.Result.Inserted = false // a single row is not inserted at all if it lacks a parent
		}
	}
	return err
}

// updatesKeys reports whether DO UPDATE sets a column that a foreign key involves.
func (s *Change) updatesKeys() bool {
	n, ok := s.change.(*inserter)
	return ok && slices.ContainsFunc(n.set, func(u *setter) bool {
		return u != nil && len(u.stored) > 0 && s.writer.writer.Internal(private.Key{}).HasForeignKeys(u.stored...)
	})
}

// run changes the rows, and keeps those of RETURNING.
func (s *Change) run() error {
	if s.kept != nil {
		return s.kept.open()
	}
	if err := s.change.open(); err != nil {
		return err
	}
	for {
		if err := s.m.alive(); err != nil {
			return err
		}
		if ok, err := s.change.next(); !ok || err != nil {
			return err
		}
	}
}

// Next moves to the next row of RETURNING, if there is one.
func (s *Change) Next() (bool, error) {
	if s.kept == nil {
		return false, nil
	}
	return s.kept.next()
}

// Values returns the current row, which is valid until Close is called.
func (s *Change) Values() []record.Value { return s.kept.values() }

// Close ends a run. It may be called again.
func (s *Change) Close() { s.m.closeSpills() }

// RollsBack reports whether an error is that of a constraint whose clause is ROLLBACK: the
// transaction is over.
func RollsBack(err error) bool {
	return sqlitefile.Clause(private.Key{}, err) == syntax.ConflictRollback
}

// Fails reports whether an error is that of a constraint whose clause is FAIL: what the statement
// changed before stays.
func Fails(err error) bool {
	return sqlitefile.Clause(private.Key{}, err) == syntax.ConflictFail
}

// A rowWriter changes the rows of one table for a statement.
type rowWriter struct {
	Result
	table   *catalog.Table
	or      syntax.Conflict
	upserts []private.Upsert
	writer  sqlitefile.TableWriter
	updater sqlitefile.TableWriter // of DO UPDATE
	values  []any
}

// open begins to write in a transaction.
func (w *rowWriter) open(tx *sqlitefile.Tx) (err error) {
	if w.writer, err = tx.Table(w.table.Name); err != nil {
		return err
	}
	w.updater = w.writer
	w.writer.Internal(private.Key{}).Resolve(w.or, w.upserts...)
	if len(w.upserts) > 0 {
		w.updater.Internal(private.Key{}).Resolve(syntax.ConflictAbort)
	}
	if w.values == nil {
		w.values = make([]any, len(w.table.Columns))
	}
	return nil
}

// rowidOf returns the rowid that a value stands for.
func rowidOf(v record.Value) (int64, error) {
	if v = applied(v, catalog.Integer); v.Kind() != record.Integer {
		return 0, ErrMismatch
	}
	return v.Int(), nil
}

// A rowSource shows one row of the table that a statement changes to its expressions.
type rowSource struct {
	table *catalog.Table
	src   *source
	over  []record.Value // the columns, then the rowid
}

// rowSource makes the current row of a source that the statement itself sets.
func (c *compiler) rowSource(s *bind.Source) *rowSource {
	r := &rowSource{table: s.Table, over: make([]record.Value, len(s.Table.Columns)+1)}
	r.src = &source{over: r.over}
	c.sources[s] = r.src
	return r
}

// read shows a row of the table.
func (r *rowSource) read(row *sqlitefile.Row) error {
	in := row.Internal(private.Key{})
	for i := range r.table.Columns {
		v, err := in.Value(i)
		if err != nil {
			return err
		}
		r.over[i] = v
	}
	r.over[len(r.table.Columns)] = record.OfInt(row.Rowid())
	return nil
}

// keep copies what the row has of the bytes of the database, which changes.
func (r *rowSource) keep() {
	for i := range r.over {
		r.over[i] = r.over[i].Clone()
	}
}

// A returning computes the rows of RETURNING.
type returning struct {
	row     *rowSource
	results []evaluator
	out     []record.Value
}

func (c *compiler) returning(b *bind.Change) (*returning, error) {
	if b.Returning == nil {
		return nil, nil
	}
	r := &returning{row: c.rowSource(b.Row), out: make([]record.Value, len(b.Returning.Columns))}
	var err error
	r.results, err = c.evaluators(b.Returning.Cores[0].Results)
	return r, err
}

// of computes the row of RETURNING for a row.
func (r *returning) of(m *machine, row *sqlitefile.Row) (err error) {
	if err = r.row.read(row); err != nil {
		return err
	}
	return r.compute(m)
}

// compute computes the row of RETURNING for the row that is shown.
func (r *returning) compute(m *machine) (err error) {
	for i := range r.results {
		if r.out[i], err = r.results[i].value(m); err != nil {
			return err
		}
	}
	return nil
}

// ofKey computes the row of RETURNING for the row with a key.
func (r *returning) ofKey(m *machine, w *rowWriter, key private.RowKey) error {
	row, ok, err := w.writer.Internal(private.Key{}).Row(key)
	if err != nil {
		return err
	}
	if !ok { // an action of a foreign key has taken it away already
		return nil
	}
	return r.of(m, &row)
}

func (r *returning) values() []record.Value {
	if r == nil {
		return nil
	}
	return r.out
}

// keyOf returns the key in front of a row.
func (w *rowWriter) keyOf(row []record.Value, keys int) private.RowKey {
	if !w.table.WithoutRowid {
		return private.RowKey{Rowid: row[0].Int()}
	}
	key := make([]any, keys)
	for i, v := range row[:keys] {
		key[i] = v
	}
	return private.RowKey{Key: key}
}

// A deleter deletes rows.
type deleter struct {
	m         *machine
	w         *rowWriter
	keys      rows
	count     int // of values of a key
	returning *returning
}

func (c *compiler) deleter(b *bind.Change, w *rowWriter) (*deleter, error) {
	d := &deleter{m: c.m, w: w, count: b.Keys}
	var err error
	if d.keys, err = c.keys(b, w, nil); err == nil {
		d.returning, err = c.returning(b)
	}
	return d, err
}

func (d *deleter) open() error { return d.keys.open() }

func (d *deleter) values() []record.Value { return d.returning.values() }

func (d *deleter) next() (bool, error) {
	w := d.w.writer.Internal(private.Key{})
	for {
		ok, err := d.keys.next()
		if !ok || err != nil {
			return false, err
		}
		key := d.w.keyOf(d.keys.values(), d.count)
		if d.returning != nil {
			row, ok, err := w.Row(key)
			if ok {
				err = d.returning.row.read(&row)
			}
			if err != nil {
				return false, err
			}
			d.returning.row.keep()
		}
		if ok, err = w.Remove(key); err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		d.w.Changes++
		if d.returning != nil { // which sees the database without the row
			err = d.returning.compute(d.m)
		}
		return true, err
	}
}

// keys makes the keys of the rows that a statement changes, all before the first row changes. The
// rows of a statement with FROM have the values of SET behind them.
func (c *compiler) keys(b *bind.Change, w *rowWriter, set *bind.Set) (rows, error) {
	r, err := c.makeQuery(b.Query)
	if err != nil {
		return nil, err
	}
	s := &sorted{m: c.m, rows: r, full: r.values, width: len(b.Query.Columns), most: -1, own: true}
	var keys []sortKey
	for i := range b.Keys {
		k := sortKey{column: i}
		if b.Table.WithoutRowid {
			k.collation, k.desc = b.Table.Primary.Terms[i].Collation, b.Table.Primary.Terms[i].Desc
		}
		k.nullsFirst = !k.desc
		keys = append(keys, k)
	}
	if !c.onePass(b, set) {
		s.keys = keys
	}
	if set == nil || set.Values != nil {
		f := &foundKeys{sorted: s, keys: keys, once: s.keys == nil, w: w}
		if set != nil {
			f.columns = set.Columns
		}
		return f, nil
	}
	l := &lastOfKey{rows: s}
	for _, k := range s.keys {
		l.orders = append(l.orders, k.collation)
	}
	return l, nil
}

// foundKeys are the keys of rows to change: in the order in which they were found if SQLite needs
// one pass, unless foreign keys let it collect the keys first.
type foundKeys struct {
	*sorted
	keys    []sortKey
	once    bool
	w       *rowWriter
	columns []int // that change; none of a DELETE
}

func (f *foundKeys) open() error {
	if f.once {
		f.sorted.keys = nil
		if f.w.writer.Internal(private.Key{}).HasForeignKeys(f.columns...) {
			f.sorted.keys = f.keys
		}
	}
	return f.sorted.open()
}

// onePass reports whether SQLite changes rows as it finds them. Otherwise it collects their keys
// first, and changes the rows in the order of these.
func (c *compiler) onePass(b *bind.Change, set *bind.Set) bool {
	core := b.Query.Cores[0]
	if b.Returning != nil || len(core.Sources) > 1 || slices.ContainsFunc(core.Where, hasQuery) || len(c.planned[core]) != 1 {
		return false
	}
	st := c.planned[core][0]
	if st.either != nil {
		return false
	}
	if set == nil {
		return true
	}
	changed := func(t catalog.Term) bool { return slices.Contains(set.Columns, t.Column) }
	if b.Or == syntax.ConflictReplace || slices.Contains(set.Columns, catalog.Rowid) || b.Table.WithoutRowid && slices.ContainsFunc(b.Table.Primary.Terms, changed) {
		return false
	}
	return st.index == nil || !slices.ContainsFunc(st.index.Terms, changed)
}

// lastOfKey are the last rows with each key, of rows sorted by their keys.
type lastOfKey struct {
	rows    rows
	orders  []value.Collation // of the columns of a key
	current []record.Value
	ahead   []record.Value
	more    bool
}

func (l *lastOfKey) values() []record.Value { return l.current }

func (l *lastOfKey) open() (err error) {
	if err = l.rows.open(); err == nil {
		err = l.step()
	}
	return err
}

func (l *lastOfKey) step() (err error) {
	if l.more, err = l.rows.next(); l.more {
		l.ahead = slices.Clone(l.rows.values())
	}
	return err
}

func (l *lastOfKey) next() (bool, error) {
	if !l.more {
		return false, nil
	}
	for {
		l.current = l.ahead
		if err := l.step(); err != nil {
			return false, err
		}
		if !l.more || compareRows(l.ahead, l.current, l.orders) != 0 {
			return true, nil
		}
	}
}
