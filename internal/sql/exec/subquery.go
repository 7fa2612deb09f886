package exec

import (
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/program"
	"github.com/foliofs/folio/internal/sql/value"
)

// rows are the rows of a query, one at a time.
type rows interface {
	// open begins with the first row. It may be called again.
	open() error
	// next moves to the next row, if there is one.
	next() (bool, error)
	// values returns the current row, which is valid until next or open is called.
	values() []record.Value
}

// A subquery is a query in an expression. Its result is kept unless it depends on rows of queries
// around it.
type subquery struct {
	rows  rows
	keeps bool           // does not depend on them
	known bool           // row, or set, is the result
	row   []record.Value // of a scalar subquery, or of one that is a row; or the result of EXISTS

	columns []column // of IN
	set     keySet
	list    [][]record.Value // of a row IN a query
	null    bool             // a NULL is in the set
}

// A column says how a value is compared.
type column struct {
	affinity  value.Affinity
	collation value.Collation
}

func (s *subquery) forget() {
	s.known, s.row, s.list, s.null = false, nil, nil, false
	s.set = keySet{}
}

// subquery is EXISTS, IN or a scalar subquery.
func (x *expression) subquery(e *bind.Expr) (program.Reg, error) {
	q := e.Query
	if s := x.c.rowQueries[q]; s != nil {
		return x.calling(nil, s.scalar(e.Number))
	}
	if e.Kind != bind.Scalar && q.Limit == nil && q.OrderBy != nil { // order does not matter
		unordered := *q
		unordered.OrderBy = nil
		q = &unordered
	}
	end := x.c.withinSubquery(e)
	r, err := x.c.query(q)
	if err != nil {
		return 0, err
	}
	if e.Kind == bind.InQuery && len(q.Outer) == 0 && q.OrderBy == nil { // the set is a hash table
		x.c.outline.add("CREATE BLOOM FILTER")
	}
	end()
	s := &subquery{rows: r, keeps: len(e.Query.Outer) == 0}
	x.c.m.caches = append(x.c.m.caches, s)
	var fn program.Func
	switch e.Kind {
	case bind.Exists:
		fn = s.exists
	case bind.Scalar:
		if fn = s.scalar(e.Number); len(q.Columns) > 1 { // its other columns are expressions of their own
			x.c.rowQueries[e.Query] = s
		}
	default:
		for i, a := range e.Args {
			right := e.Query.Last(i)
			s.columns = append(s.columns, column{value.Comparison(a.Affinity, right.Affinity), bind.Compared(a, right)})
		}
		if fn = s.in; len(e.Args) > 1 {
			fn = s.rowIn
		}
	}
	d, err := x.calling(e.Args, fn)
	return x.negated(d, e.Not), err
}

// scalar returns a column of the first row.
func (s *subquery) scalar(column int) program.Func {
	return func([]record.Value) (record.Value, error) {
		if !s.known {
			s.row = s.row[:0]
			ok, err := s.first()
			if err != nil {
				return record.Value{}, err
			}
			if s.known = s.keeps; ok {
				s.row = append(s.row, s.rows.values()...)
			}
		}
		if len(s.row) == 0 {
			return record.Value{}, nil
		}
		return s.row[column], nil
	}
}

func (s *subquery) exists([]record.Value) (record.Value, error) {
	if s.known {
		return s.row[0], nil
	}
	ok, err := s.first()
	s.row, s.known = append(s.row[:0], value.OfBool(ok)), s.keeps && err == nil
	return s.row[0], err
}

func (s *subquery) first() (bool, error) {
	if err := s.rows.open(); err != nil {
		return false, err
	}
	return s.rows.next()
}

// in is x IN (SELECT ...).
func (s *subquery) in(args []record.Value) (record.Value, error) {
	if !s.known {
		s.forget()
		if err := s.fill(); err != nil {
			return record.Value{}, err
		}
		s.known = s.keeps
	}
	switch x := args[0]; {
	case s.set.len() == 0 && !s.null:
		return record.OfInt(0), nil
	case x.Kind() == record.Null:
		return x, nil
	case s.set.has(s.columns[0].key(x)):
		return record.OfInt(1), nil
	case s.null:
		return record.Value{}, nil
	}
	return record.OfInt(0), nil
}

// key returns a value as a set of IN keeps it. Unlike a comparison with =, SQLite makes a float of
// a number if only one side has an affinity, and that is REAL: 9007199254740993 is then in a query
// that returns '9007199254740992.0'.
func (c column) key(v record.Value) (record.Value, value.Collation) {
	switch {
	case c.affinity == catalog.Real:
		v = applied(v, catalog.Real)
	case c.affinity.Numeric() && v.Kind() == record.Text:
		v = value.Numeric(v)
	case c.affinity == affinityText:
		v = applied(v, affinityText)
	}
	return v, c.collation
}

func (s *subquery) fill() error {
	if err := s.rows.open(); err != nil {
		return err
	}
	for {
		ok, err := s.rows.next()
		if !ok || err != nil {
			return err
		}
		s.put(s.rows.values()[0])
	}
}

// put adds a value to the set.
func (s *subquery) put(v record.Value) {
	if v.Kind() == record.Null {
		s.null = true
		return
	}
	s.set.add(s.columns[0].key(v))
}

// rowIn is (x, y) IN (SELECT ...).
func (s *subquery) rowIn(args []record.Value) (record.Value, error) {
	if !s.known {
		s.forget()
		if err := s.rows.open(); err != nil {
			return record.Value{}, err
		}
		for {
			ok, err := s.rows.next()
			if err != nil {
				return record.Value{}, err
			}
			if !ok {
				break
			}
			s.list = append(s.list, append([]record.Value(nil), s.rows.values()...))
		}
		s.known = s.keeps
	}
	result := record.OfInt(0)
	for _, row := range s.list {
		equal, null := true, false
		for i, x := range args {
			if x.Kind() == record.Null || row[i].Kind() == record.Null {
				null = true
				continue
			}
			left, collation := s.columns[i].key(x)
			right, _ := s.columns[i].key(row[i])
			if value.Compare(left, right, collation) != 0 {
				equal = false
				break
			}
		}
		switch {
		case equal && !null:
			return record.OfInt(1), nil
		case equal:
			result = record.Value{}
		}
	}
	return result, nil
}
