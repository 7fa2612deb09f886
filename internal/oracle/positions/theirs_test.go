package positions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/foliofs/folio/internal/oracle/judge"
)

// theirs is C SQLite as an engine.
type theirs struct {
	*judge.Conn
	tables []*table
	parts  int
}

// condition returns the condition of a loop, with its arguments.
func (s *step) condition(column string) (where string, args []any) {
	switch s.where.kind {
	case 1:
		return fmt.Sprintf(" WHERE %s >= ? AND %s < ?", column, column), []any{s.where.low, s.where.high}
	case 2:
		return fmt.Sprintf(" WHERE %s = ?", column), []any{s.where.low}
	case 3:
		return fmt.Sprintf(" WHERE %s >= ?", column), []any{s.where.low}
	}
	return "", nil
}

func (c *theirs) rows(s *step, fn func(id int64) error) error {
	t := c.tables[s.table]
	x := &t.trees[s.tree]
	where, args := s.condition(x.terms[0].column)
	for v, err := range c.Rows(context.Background(), t.query(x, where, s.back), args...) {
		if err != nil {
			return err
		}
		if err := fn(v[0].(int64)); err != nil {
			return err
		}
	}
	return nil
}

// refused returns errRefused for an error of a constraint.
func refused(err error) error {
	if err != nil && judge.Code(errors.Unwrap(err)) == 19 {
		return errRefused
	}
	return err
}

func (c *theirs) insert(table int, v row) error {
	marks := strings.Repeat(", ?", len(v))[2:]
	return refused(c.Exec("INSERT INTO "+c.tables[table].name+" VALUES ("+marks+")", v...))
}

func (c *theirs) set(table int, id int64, column string, v any) error {
	return refused(c.Exec("UPDATE "+c.tables[table].name+" SET "+column+" = ? WHERE id = ?", v, id))
}

func (c *theirs) replace(table int, v row) error {
	set := "d = ?, a = ?, b = ?, c = ?"
	if len(v) > 5 {
		set += ", p = ?"
	}
	return refused(c.Exec("UPDATE "+c.tables[table].name+" SET "+set+" WHERE id = ?", append(append(row(nil), v[1:]...), v[0])...))
}

func (c *theirs) remove(table int, low, high int64) error {
	return refused(c.Exec("DELETE FROM "+c.tables[table].name+" WHERE id BETWEEN ? AND ?", low, high))
}

func (c *theirs) removeAll(table int) error {
	return refused(c.Exec("DELETE FROM " + c.tables[table].name))
}

func (c *theirs) part(back bool, fn func() error) error {
	c.parts++
	name := fmt.Sprint("s", c.parts)
	if err := c.Exec("SAVEPOINT " + name); err != nil {
		return err
	}
	err := fn()
	if back {
		err = errors.Join(err, c.Exec("ROLLBACK TO "+name))
	}
	return errors.Join(err, c.Exec("RELEASE "+name))
}
