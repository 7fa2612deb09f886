package rewrite

import "github.com/foliofs/folio/internal/sql/bind"

// A copier copies a core with its sources, and the queries in it that read them.
type copier struct {
	sources map[*bind.Source]*bind.Source
	cores   map[*bind.Core]*bind.Core
	memo    map[*bind.Expr]*bind.Expr
	queries map[*bind.Query]*bind.Query
}

// copyCore copies a core. One of its sources, which is going to be replaced, keeps its query.
func copyCore(c *bind.Core, replaced *bind.Source) *bind.Core {
	k := &copier{
		make(map[*bind.Source]*bind.Source), make(map[*bind.Core]*bind.Core), make(map[*bind.Expr]*bind.Expr), make(map[*bind.Query]*bind.Query),
	}
	k.queries[replaced.Query] = replaced.Query
	return k.core(c)
}

func (k *copier) core(c *bind.Core) *bind.Core {
	n := *c
	k.cores[c] = &n
	n.Sources = make([]*bind.Source, len(c.Sources))
	for i, s := range c.Sources {
		src := *s
		src.Core = &n
		k.sources[s], n.Sources[i] = &src, &src
	}
	for _, s := range n.Sources {
		if s.Query != nil {
			s.Query = k.query(s.Query)
		}
	}
	n.Aggregates = make([]*bind.Aggregate, len(c.Aggregates))
	for i, a := range c.Aggregates {
		x := *a
		n.Aggregates[i] = &x
	}
	n.Replace(k.expr)
	return &n
}

func (k *copier) query(q *bind.Query) *bind.Query {
	if n := k.queries[q]; n != nil {
		return n
	}
	n := *q
	k.queries[q] = &n
	n.Cores = make([]*bind.Core, len(q.Cores))
	for i, c := range q.Cores {
		n.Cores[i] = k.core(c)
	}
	list := func(list []*bind.Source) (copies []*bind.Source) {
		for _, s := range list {
			copies = append(copies, k.source(s))
		}
		return copies
	}
	n.Outer, n.Recursive = list(q.Outer), list(q.Recursive)
	n.OrderBy = append([]bind.Order(nil), q.OrderBy...)
	n.Replace(k.expr)
	return &n
}

func (k *copier) source(s *bind.Source) *bind.Source {
	if n := k.sources[s]; n != nil {
		return n
	}
	return s
}

func (k *copier) expr(e *bind.Expr) *bind.Expr {
	if e == nil {
		return nil
	}
	if n := k.memo[e]; n != nil {
		return n
	}
	n := *e.With(k.expr)
	if n.Query != nil {
		n.Query = k.query(n.Query)
	}
	if n.Source != nil {
		n.Source = k.source(n.Source)
	}
	if c := k.cores[n.Core]; c != nil {
		n.Core = c
	}
	k.memo[e] = &n
	return &n
}
