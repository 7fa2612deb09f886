package exec

import (
	"errors"
	"sync/atomic"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/program"
	"github.com/foliofs/folio/internal/sql/value"
	"github.com/foliofs/folio/sqlitefile"
)

// ErrInterrupted says that the statement was cancelled.
var ErrInterrupted = errors.New("interrupted")

// A machine is the state that the parts of a running statement share: its transaction, its
// parameters, and the places that the columns of its programs are read from.
type machine struct {
	rx     *sqlitefile.Rx
	params []record.Value
	cancel *atomic.Bool
	refs   []ref        // by the numbers that programs have for columns
	tables []*table     // to bind to each transaction
	caches []*subquery  // to forget for each execution
	stored []*storedRow // the same
	spills []*spill     // with files to remove

	sortMemory int // bytes; 0 for SortMemory
}

// A ref is a column of a source, or a parameter if there is no source.
type ref struct {
	source *source
	column int
}

// Column returns the value of a ref. It makes machine a program.Row.
func (m *machine) Column(i int) (record.Value, error) {
	r := &m.refs[i]
	if r.source == nil {
		return m.params[r.column], nil
	}
	return r.source.column(r.column)
}

// alive returns an error if the statement was cancelled.
func (m *machine) alive() error {
	if m.cancel != nil && m.cancel.Load() {
		return ErrInterrupted
	}
	return nil
}

// bind lets the machine run in a transaction.
func (m *machine) bind(rx *sqlitefile.Rx) {
	m.rx = rx
	for _, t := range m.tables {
		t.bind(rx)
	}
	for _, c := range m.caches {
		c.forget()
	}
	for _, s := range m.stored {
		s.filled = false
	}
}

// A source gives the columns of the current row of an entry of FROM.
type source struct {
	over    []record.Value // the values in place of those of a table, the rowid last; nil if there are none
	table   *table
	nulls   []record.Value // of a row of NULLs
	reals   []int          // columns of a query whose integers it reads as floats
	room    []record.Value // for such a row
	primary []catalog.Term // the key of a table WITHOUT ROWID
	group   record.Value   // what column NullRow is of the row of a group
}

// A table is the current row of a table, which may come from an index.
type table struct {
	handle sqlitefile.Table
	row    sqlitefile.Row
	entry  sqlitefile.Row // of the index
	fields []int          // by column and 1: the place in the entry; none if the row has it
	loaded bool           // row is the current one
	binder func(rx *sqlitefile.Rx)
}

const (
	inRow   = -2 // a column that the entry of an index lacks
	inRowid = -1
)

func (t *table) bind(rx *sqlitefile.Rx) {
	t.handle = t.handle.Internal(private.Key{}).At(rx)
	if t.binder != nil {
		t.binder(rx)
	}
}

// column returns a column of the current row, or the rowid if i is -1.
func (s *source) column(i int) (record.Value, error) {
	if i == catalog.NullRow {
		return s.nullRow(), nil
	}
	if s.over != nil {
		if i < 0 {
			i = len(s.over) - 1
		}
		return s.over[i], nil
	}
	t := s.table
	if t.fields != nil {
		switch f := t.fields[i+1]; {
		case f == inRowid:
			return record.OfInt(t.entry.Rowid()), nil
		case f >= 0:
			return t.entry.Internal(private.Key{}).Value(f)
		case !t.loaded:
			if err := t.load(); err != nil {
				return record.Value{}, err
			}
		}
	}
	if i < 0 {
		return record.OfInt(t.row.Rowid()), nil
	}
	return t.row.Internal(private.Key{}).Value(i)
}

// show makes a row of a query the current one.
func (s *source) show(row []record.Value) {
	if s.over = row; s.reals != nil {
		s.room = append(s.room[:0], row...)
		s.over = s.room
		s.realify(s.room)
	}
}

// realify makes floats of integers in REAL columns. A compound has them if the column is REAL in
// another one of its SELECTs.
func (s *source) realify(row []record.Value) {
	for _, i := range s.reals {
		if row[i].Kind() == record.Integer {
			row[i] = record.OfFloat(float64(row[i].Int()))
		}
	}
}

// nullRow is column NullRow.
func (s *source) nullRow() record.Value {
	switch {
	case len(s.over) == 0 || len(s.nulls) == 0:
		return record.OfInt(0)
	case &s.over[0] == &s.nulls[0]:
		return record.OfInt(1)
	}
	return s.group
}

// load reads the row that the entry of an index leads to.
func (t *table) load() error {
	row, ok, err := t.handle.Get(t.entry.Rowid())
	if err != nil {
		return err
	}
	if !ok {
		return ErrCorrupt
	}
	t.row, t.loaded = row, true
	return nil
}

// ErrCorrupt says that an index has an entry without a row.
var ErrCorrupt = errors.New("database disk image is malformed")

// An evaluator computes an expression: a column without a program, or a program.
type evaluator struct {
	source    *source
	column    int
	program   *program.Program
	registers []record.Value
	simple    *comparison // that the program computes
}

// A comparison is a condition on a column: it compares it with an integer or a pattern.
type comparison struct {
	source               *source
	column               int
	integer              int64
	less, equal, greater bool // the results
	like                 func(text []byte) bool
	not                  bool // of like
}

func (e *evaluator) value(m *machine) (record.Value, error) {
	if e.source != nil {
		return e.source.column(e.column)
	}
	return e.program.Run(e.registers, m)
}

// holds reports whether a condition is true.
func (e *evaluator) holds(m *machine) (bool, error) {
	if c := e.simple; c != nil {
		v, err := c.source.column(c.column)
		if err != nil {
			return false, err
		}
		switch {
		case c.like != nil:
			if v.Kind() == record.Text {
				return c.like(v.Bytes()) != c.not, nil
			}
		case v.Kind() == record.Integer:
			i := v.Int()
			return c.less && i < c.integer || c.equal && i == c.integer || c.greater && i > c.integer, nil
		}
	}
	v, err := e.value(m)
	return err == nil && value.True(v), err
}

// allTrue reports whether all conditions are true.
func allTrue(m *machine, conditions []evaluator) (bool, error) {
	for i := range conditions {
		if ok, err := conditions[i].holds(m); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// A binder takes part in the begin of a transaction.
type binder interface{ bind(rx *sqlitefile.Rx) }

func both(a, b binder) func(rx *sqlitefile.Rx) {
	return func(rx *sqlitefile.Rx) {
		a.bind(rx)
		b.bind(rx)
	}
}
