package exec

import (
	"slices"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// A sortKey is a column by which rows are sorted.
type sortKey struct {
	column     int
	collation  value.Collation
	desc       bool
	nullsFirst bool
}

// compareBy orders two rows by keys.
func compareBy(a, b []record.Value, keys []sortKey) int {
	for i := range keys {
		k := &keys[i]
		x, y := a[k.column], b[k.column]
		d := 0
		switch xNull, yNull := x.Kind() == record.Null, y.Kind() == record.Null; {
		case xNull && yNull:
		case xNull == k.nullsFirst && (xNull || yNull):
			return -1
		case xNull || yNull:
			return 1
		default:
			if d = value.Compare(x, y, k.collation); k.desc {
				d = -d
			}
		}
		if d != 0 {
			return d
		}
	}
	return 0
}

// sorted are the rows of a query in another order. Equal rows stay in the order in which they came.
type sorted struct {
	m     *machine
	rows  rows
	core  *coreRows             // the same rows, if they are those of a core
	full  func() []record.Value // the current row with its keys
	keys  []sortKey
	width int
	most  int64 // rows that are asked for; -1 for all
	own   bool  // copy the bytes of rows: the database changes while they are kept
	list  [][]record.Value
	at    int

	memory int    // bytes of list
	spill  *spill // nil while list is enough
	key    []record.Value
	out    []record.Value
}

func (s *sorted) values() []record.Value { return s.out }

func (s *sorted) open() error {
	s.m.drop(s.spill)
	s.list, s.at, s.memory, s.spill = s.list[:0], 0, 0, nil
	var room, worst []record.Value // worst is the last of the rows that are returned, if no other comes
	if s.core != nil {
		if s.core.wanted = nil; s.most >= 0 {
			s.core.wanted = func() bool { return worst == nil || compareBy(s.core.out, worst, s.keys) < 0 }
		}
	}
	if err := s.rows.open(); err != nil {
		return err
	}
	for {
		ok, err := s.rows.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := s.m.alive(); err != nil {
			return err
		}
		full := s.full()
		if s.spill != nil {
			if err := s.spill.add(s.keyOf(full), full[:s.width]); err != nil {
				return err
			}
			continue
		}
		if n := int64(len(s.list)); s.most >= 0 && n > 2*s.most+256 {
			s.sort()
			s.list, worst, s.memory = s.list[:s.most], nil, 0
			for _, row := range s.list {
				s.memory += memoryOf(row)
			}
			if s.most > 0 {
				worst = s.list[s.most-1]
			}
		}
		if worst != nil && compareBy(full, worst, s.keys) >= 0 {
			continue
		}
		var row []record.Value
		row, room = keep(full, room)
		if s.own {
			for i := range row {
				row[i] = row[i].Clone()
			}
		}
		s.list = append(s.list, row)
		if s.memory += memoryOf(row); s.memory > s.m.limit()/4 {
			if err := s.beginSpill(); err != nil {
				return err
			}
			room, worst = nil, nil
		}
	}
	if s.spill != nil {
		return s.spill.sort()
	}
	s.sort()
	return nil
}

// beginSpill moves the rows to a spill, to which all others go.
func (s *sorted) beginSpill() error {
	var order record.Order
	for _, k := range s.keys {
		if k.nullsFirst == k.desc { // NULLs at the other end: a column of its own says whether it is one
			order = append(order, record.KeyColumn{Desc: k.nullsFirst})
		}
		order = append(order, keyColumn(k.collation, k.desc))
	}
	s.spill = s.m.newSpill(order)
	for _, row := range s.list {
		if err := s.spill.add(s.keyOf(row), row[:s.width]); err != nil {
			return err
		}
	}
	s.list = nil
	return nil
}

// keyOf returns the values of a row for the order of the spill.
func (s *sorted) keyOf(row []record.Value) []record.Value {
	s.key = s.key[:0]
	for _, k := range s.keys {
		v := row[k.column]
		if k.nullsFirst == k.desc {
			s.key = append(s.key, value.OfBool(v.Kind() == record.Null))
		}
		s.key = append(s.key, v)
	}
	return s.key
}

func (s *sorted) sort() {
	slices.SortStableFunc(s.list, func(a, b []record.Value) int { return compareBy(a, b, s.keys) })
}

func (s *sorted) next() (bool, error) {
	if s.most >= 0 && int64(s.at) >= s.most {
		return false, nil
	}
	if s.spill != nil {
		row, err := s.spill.next()
		if row == nil || err != nil {
			return false, err
		}
		s.out = row[s.spill.width:]
	} else if s.at == len(s.list) {
		return false, nil
	} else {
		s.out = s.list[s.at][:s.width]
	}
	s.at++
	return true, nil
}

// limited are the rows of a query within LIMIT and OFFSET.
type limited struct {
	m             *machine
	rows          rows
	limit, offset *evaluator
	sorted        *sorted // that need not keep more rows; may be nil
	left, skip    int64
}

func (l *limited) values() []record.Value { return l.rows.values() }

func (l *limited) open() (err error) {
	l.left, l.skip = -1, 0
	if l.limit != nil {
		if l.left, err = l.count(l.limit); err != nil {
			return err
		}
	}
	if l.offset != nil {
		if l.skip, err = l.count(l.offset); err != nil {
			return err
		}
		l.skip = max(l.skip, 0)
	}
	if l.sorted != nil {
		if l.sorted.most = -1; l.left >= 0 && l.left < 1<<40 && l.skip < 1<<40 {
			l.sorted.most = l.left + l.skip
		}
	}
	if l.left == 0 {
		return nil
	}
	return l.rows.open()
}

// count returns the value of LIMIT or OFFSET, which must be an integer.
func (l *limited) count(e *evaluator) (int64, error) {
	v, err := e.value(l.m)
	if err != nil {
		return 0, err
	}
	if v = applied(v, affinityInteger); v.Kind() != record.Integer {
		return 0, ErrMismatch
	}
	return max(v.Int(), -1), nil
}

func (l *limited) next() (bool, error) {
	if l.left == 0 {
		return false, nil
	}
	for ; l.skip > 0; l.skip-- {
		if ok, err := l.rows.next(); !ok || err != nil {
			return false, err
		}
	}
	ok, err := l.rows.next()
	if ok && l.left > 0 {
		l.left--
	}
	return ok, err
}
