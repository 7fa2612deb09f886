package syntax

import "strings"

func (w *printer) query(n *Select) {
	w.with(n.With)
	for i := range n.Cores {
		c := &n.Cores[i]
		w.word(c.Compound.String())
		w.core(c)
	}
	w.orderBy(n.OrderBy)
	w.exprAfter("LIMIT", n.Limit)
	w.exprAfter("OFFSET", n.Offset)
}

func (w *printer) with(with *With) {
	if with == nil {
		return
	}
	w.word("WITH")
	w.wordIf(with.Recursive, "RECURSIVE")
	w.list(len(with.Tables), func(i int) {
		t := &with.Tables[i]
		w.name(t.Name)
		w.nameTerms(t.Columns)
		w.word([...]string{"AS", "AS MATERIALIZED", "AS NOT MATERIALIZED"}[t.Materialized])
		w.parens(func() { w.query(t.Query) })
	})
}

func (w *printer) core(c *Core) {
	if c.Values != nil {
		w.word("VALUES")
		w.list(len(c.Values), func(i int) { w.parens(func() { w.exprs(c.Values[i]) }) })
		return
	}
	w.word("SELECT")
	w.wordIf(c.Distinct, "DISTINCT")
	w.wordIf(c.All, "ALL")
	w.columns(c.Columns)
	w.from(c.From)
	w.exprAfter("WHERE", c.Where)
	if c.GroupBy != nil {
		w.word("GROUP BY")
		w.exprs(c.GroupBy)
	}
	w.exprAfter("HAVING", c.Having)
	if c.Windows != nil {
		w.word("WINDOW")
		w.list(len(c.Windows), func(i int) {
			w.name(c.Windows[i].Name)
			w.word("AS")
			w.parens(func() { w.window(c.Windows[i]) })
		})
	}
}

func (w *printer) columns(list []Column) {
	w.list(len(list), func(i int) {
		w.expr(list[i].Expr)
		w.nameAfter("AS", list[i].Alias)
	})
}

func (w *printer) returning(list []Column) {
	if list != nil {
		w.word("RETURNING")
		w.columns(list)
	}
}

func (w *printer) from(list []Source) {
	if list != nil {
		w.word("FROM")
		w.sources(list)
	}
}

func (w *printer) sources(list []Source) {
	for i := range list {
		s := &list[i]
		w.word(s.Join.String())
		switch {
		case s.Query != nil:
			w.parens(func() { w.query(s.Query) })
		case s.Nested != nil:
			w.parens(func() { w.sources(s.Nested) })
		default:
			w.qualified(s.Name)
			if s.Function {
				w.parens(func() { w.exprs(s.Arguments) })
			}
		}
		w.nameAfter("AS", s.Alias)
		w.nameAfter("INDEXED BY", s.IndexedBy)
		w.wordIf(s.NotIndexed, "NOT INDEXED")
		w.exprAfter("ON", s.On)
		if s.Using != nil {
			w.word("USING")
			w.names(s.Using)
		}
	}
}

// String returns the operator in SQL, "" for 0.
func (j Join) String() string {
	if j == 0 || j == JoinComma {
		return [...]string{"", ","}[j]
	}
	var words []string
	add := func(ok bool, word string) {
		if ok {
			words = append(words, word)
		}
	}
	left, right := j&JoinLeft != 0, j&JoinRight != 0
	add(j&JoinNatural != 0, "NATURAL")
	add(left && right, "FULL")
	add(left && !right, "LEFT")
	add(right && !left, "RIGHT")
	add(j&JoinCross != 0, "CROSS")
	add(j&(JoinNatural|JoinInner|JoinCross) == JoinNatural|JoinInner, "INNER")
	words = append(words, "JOIN")
	return strings.Join(words, " ")
}
