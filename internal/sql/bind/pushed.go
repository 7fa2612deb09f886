package bind

import (
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/value"
)

// SQLite moves conditions on a compound in FROM into each SELECT of it. A column may have another
// affinity there than in the compound as a whole, and then a comparison has another result. For
// example, the first query returns 1 and the second nothing, though column a is TEXT:
//
//	SELECT * FROM (SELECT 1 AS a UNION ALL SELECT a FROM t) WHERE a = '1'
//	SELECT * FROM (SELECT 1 AS a UNION SELECT a FROM t LIMIT 9) WHERE a = '1'
//
// checkPushed refuses such conditions, as the engine evaluates them on the compound.
func (c *Core) checkPushed() error {
	check := func(terms []*Expr) error {
		for _, e := range terms {
			if err := e.checkPushed(c); err != nil {
				return err
			}
		}
		return nil
	}
	for _, s := range c.Sources {
		if err := check(s.On); err != nil {
			return err
		}
	}
	return check(c.Where)
}

func (e *Expr) checkPushed(c *Core) (err error) {
	uses := e.Uses(c)
	if uses == 0 || uses&(uses-1) != 0 {
		return nil
	}
	e.Walk(func(e *Expr) bool {
		operands := e.Args
		switch e.Kind {
		case Compare, Between, InList, InQuery:
		case Case:
			if e.Base == nil {
				return true
			}
			operands = append([]*Expr{e.Base}, e.Args...)
		default:
			return true
		}
		if e.Kind == InQuery {
			for i := range e.Args {
				operands = append(operands[:len(operands):len(operands)], e.Query.Last(i))
			}
		}
		for i, x := range operands {
			if x.Kind == Row {
				continue // its members are compared one by one, which Walk does not tell apart
			}
			for x.Kind == Collate {
				x = x.Args[0]
			}
			if x.Kind != ColumnOf || x.Source == nil || x.Source.Core != c || x.Source.Query == nil || x.Number < 0 {
				continue
			}
			others := append(operands[:i:i], operands[i+1:]...)
			if !x.Source.Query.uniform(x.Number, others) {
				err = unsupported("a comparison of column %s of a compound in FROM, which has other affinities in some of its SELECTs",
					x.Source.Columns[x.Number].Name)
				return false
			}
		}
		return true
	})
	return err
}

// uniform reports whether a comparison of column i with other operands has the same result in each
// SELECT of a compound as on the compound.
func (q *Query) uniform(i int, others []*Expr) bool {
	of := affinityClass(q.Columns[i].Affinity)
	for _, core := range q.Cores {
		for _, row := range core.rows() {
			if !row[i].inherits(of, others) {
				return false
			}
		}
	}
	return true
}

// inherits does so for one SELECT, whose column may again be one of a query in FROM.
func (e *Expr) inherits(of int, others []*Expr) bool {
	in := affinityClass(e.Affinity)
	if in != of {
		if in == classText || of == classText || in == classNone && e.kinds()&2 != 0 {
			return false
		}
		for _, o := range others {
			if o.kinds()&2 != 0 {
				return false
			}
		}
	}
	for e.Kind == Collate {
		e = e.Args[0]
	}
	if e.Kind == ColumnOf && e.Source != nil && e.Source.Query != nil && e.Number >= 0 {
		return e.Source.Query.uniform(e.Number, others)
	}
	return true
}

const (
	classNone = iota
	classText
	classNumeric
)

// affinityClass returns which conversion an affinity causes in a comparison.
func affinityClass(a value.Affinity) int {
	switch {
	case a.Numeric():
		return classNumeric
	case a == catalog.Text:
		return classText
	}
	return classNone
}
