package positions

import (
	"errors"
	"fmt"
)

// An engine makes the steps of a program in its transaction.
type engine interface {
	// rows calls fn with the id of each row that a loop has. It ends if fn returns an error.
	rows(s *step, fn func(id int64) error) error
	// insert adds a row. errRefused says that a constraint is in the way, and that nothing changed.
	insert(table int, v row) error
	set(table int, id int64, column string, v any) error
	replace(table int, v row) error // gives the row of this id other values
	remove(table int, low, high int64) error
	removeAll(table int) error
	// part makes a part of the transaction, and takes it back if back.
	part(back bool, fn func() error) error
}

var (
	errRefused = errors.New("refused by a constraint")
	errEnough  = errors.New("enough")
)

// A run is a program on its way in an engine.
type run struct {
	engine
	trace  []string
	budget int     // of rows, in all loops
	ids    []int64 // the current rows of the loops, the innermost last
}

// do makes the steps of a program once. round counts those of the loop around it.
func (r *run) do(p program, round int) error {
	for i := range p {
		s := &p[i]
		if round%s.every != 0 {
			continue
		}
		err := r.step(s, round)
		if errors.Is(err, errRefused) {
			r.trace = append(r.trace, "refused")
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// step makes one step.
func (r *run) step(s *step, round int) error {
	id := s.far
	if n := len(r.ids) - 1 - s.level; s.far == 0 && n >= 0 {
		id = r.ids[n] + s.delta
	}
	switch s.kind {
	case loopRows:
		return r.loop(s)
	case insertRow:
		return r.insert(s.table, s.row.with(id))
	case insertMany:
		return r.insertMany(s, id, round)
	case setColumn:
		return r.set(s.table, id, s.name, s.row[s.column()])
	case replaceRow:
		return r.replace(s.table, s.row.with(id))
	case deleteRow:
		return r.remove(s.table, id, id)
	case deleteRange:
		return r.remove(s.table, id, id+s.size)
	case deleteAll:
		return r.removeAll(s.table)
	}
	return r.part(s.kind == takeBack, func() error { return r.do(s.body, 0) })
}

// column returns the column that a step sets.
func (s *step) column() int { return columnOf(s.name) }

// columnOf returns the place of a column in a row.
func columnOf(name string) int { return map[string]int{"id": 0, "d": 1, "a": 2, "b": 3, "c": 4}[name] }

// with returns the row with another id.
func (v row) with(id int64) row {
	w := append(row(nil), v...)
	w[0] = id
	return w
}

// insertMany adds some rows, so that pages are split.
func (r *run) insertMany(s *step, id int64, round int) error {
	for i := range int64(12) {
		err := r.insert(s.table, s.row.with(id+5000+i*3+int64(round)*100))
		if err != nil && !errors.Is(err, errRefused) {
			return err
		}
	}
	return nil
}

// loop makes the steps of a loop for each of its rows.
func (r *run) loop(s *step) error {
	round := 0
	r.trace = append(r.trace, "loop")
	err := r.rows(s, func(id int64) error {
		if r.budget--; r.budget < 0 {
			return errEnough
		}
		r.trace = append(r.trace, fmt.Sprint(id))
		r.ids = append(r.ids, id)
		err := r.do(s.body, round)
		r.ids = r.ids[:len(r.ids)-1]
		round++
		return err
	})
	if errors.Is(err, errEnough) && len(r.ids) == 0 {
		r.trace = append(r.trace, "enough")
		err = nil
	}
	return err
}
