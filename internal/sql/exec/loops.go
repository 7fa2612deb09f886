package exec

import (
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/catalog"
)

// Loops are the rows that FROM and WHERE make: nested loops over the sources.
type loops struct {
	m       *machine
	levels  []*level
	before  []evaluator // conditions that read no source
	stored  []*storedRow
	base    int // the level that the others are within: 0, or one that returns its rows without a match
	started bool
	ended   bool
}

// A level is the loop over one source.
type level struct {
	access  access
	source  *source
	filters []evaluator // of rows of the source
	covered []evaluator // the same, if the access is not exact
	after   []evaluator // of an outer join: of rows of NULLs, too
	left    bool
	matched bool
	null    bool // the row of NULLs is the current one
	right   *unmatched
}

// An unmatched finds the rows of a source of a RIGHT or FULL JOIN that no row before it matched.
type unmatched struct {
	all    access
	seen   map[any]bool // rowids, or rows of a query, that matched
	active bool         // the level returns the rows that did not
}

// key identifies the current row of a source.
func (s *source) key() (any, error) {
	if s.over != nil {
		return &s.over[0], nil
	}
	if s.primary == nil {
		v, err := s.column(catalog.Rowid)
		return v.Int(), err
	}
	var b []byte
	for _, t := range s.primary {
		v, err := s.column(t.Column)
		if err != nil {
			return nil, err
		}
		b = appendKey(b, v, t.Collation)
	}
	return string(b), nil
}

func (l *loops) open() error {
	l.started, l.ended, l.base = false, false, 0
	for _, lv := range l.levels {
		if lv.right != nil {
			lv.right.seen, lv.right.active = make(map[any]bool), false
		}
	}
	for _, s := range l.stored {
		if !s.keeps {
			s.filled = false
		}
	}
	ok, err := allTrue(l.m, l.before)
	l.ended = !ok
	return err
}

func (l *loops) next() (bool, error) {
	if l.ended {
		return false, nil
	}
	if len(l.levels) == 0 {
		l.ended = true
		return true, nil
	}
	last := len(l.levels) - 1
	at := last
	if !l.started {
		l.started, at = true, 0
		if err := l.levels[0].open(l.m); err != nil {
			return false, err
		}
	}
	for {
		ok, err := l.levels[at].next(l.m)
		switch {
		case err != nil:
			return false, err
		case ok && at == last:
			return true, nil
		case ok:
			at++
			if err := l.levels[at].open(l.m); err != nil {
				return false, err
			}
		case at == l.base:
			if ok, err := l.nextBase(); !ok || err != nil {
				l.ended = true
				return false, err
			}
			at = l.base
		default:
			at--
		}
	}
}

// nextBase goes on with the next level that has rows without a match, if there is one.
func (l *loops) nextBase() (bool, error) {
	for i := l.base + 1; i < len(l.levels); i++ {
		lv := l.levels[i]
		if lv.right == nil {
			continue
		}
		for _, before := range l.levels[:i] {
			before.source.over = before.source.nulls
		}
		l.base, lv.right.active, lv.null = i, true, false
		return true, lv.right.all.open(l.m)
	}
	return false, nil
}

// counter returns an operator that can count the rows of the loops without reading them, or nil.
func (l *loops) counter() counter {
	if len(l.levels) != 1 || len(l.before) > 0 {
		return nil
	}
	lv := l.levels[0]
	if lv.left || len(lv.filters)+len(lv.covered)+len(lv.after) > 0 {
		return nil
	}
	switch a := lv.access.(type) {
	case *tableScan:
		return a
	case *indexRange:
		if len(a.equal) == 0 && a.low == nil && a.high == nil {
			return a
		}
	}
	return nil
}

func (l *level) open(m *machine) error {
	l.matched, l.null = false, false
	return l.access.open(m)
}

// next moves to the next row that passes the filters.
func (l *level) next(m *machine) (bool, error) {
	if l.null {
		return false, nil
	}
	if l.source.table != nil {
		l.source.over = nil
	}
	if l.right != nil && l.right.active {
		return l.nextUnmatched(m)
	}
	for {
		if err := m.alive(); err != nil {
			return false, err
		}
		ok, err := l.access.next(m)
		if err != nil {
			return false, err
		}
		if !ok {
			break
		}
		if ok, err = allTrue(m, l.filters); ok && !l.access.exact() {
			ok, err = allTrue(m, l.covered)
		}
		if err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		l.matched = true
		if l.right != nil {
			key, err := l.source.key()
			if err != nil {
				return false, err
			}
			l.right.seen[key] = true
		}
		if ok, err = allTrue(m, l.after); ok || err != nil {
			return ok, err
		}
	}
	if !l.left || l.matched {
		return false, nil
	}
	l.null = true
	l.source.over = l.source.nulls
	return allTrue(m, l.after)
}

// nextUnmatched moves to the next row without a match.
func (l *level) nextUnmatched(m *machine) (bool, error) {
	for {
		if err := m.alive(); err != nil {
			return false, err
		}
		if ok, err := l.right.all.next(m); !ok || err != nil {
			return false, err
		}
		key, err := l.source.key()
		if err != nil {
			return false, err
		}
		if l.right.seen[key] {
			continue
		}
		if ok, err := allTrue(m, l.after); ok || err != nil {
			return ok, err
		}
	}
}

// A current holds the one row that another part of the machine sets.
type current struct {
	source *source
	row    *[]record.Value
	done   bool
}

func (a *current) exact() bool { return true }

func (a *current) open(*machine) error {
	a.done = false
	return nil
}

func (a *current) next(*machine) (bool, error) {
	if a.done {
		return false, nil
	}
	a.done = true
	a.source.show(*a.row)
	return true, nil
}
