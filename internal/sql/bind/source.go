package bind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/sql/program"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

const concat = program.Concat

// A join is a source with its conditions that are to be resolved.
type join struct {
	source *Source
	on     *syntax.Expr
	using  []*Expr
}

// sources resolves the entries of FROM.
func (r *resolver) sources(s *scope, from []syntax.Source) (joins []join, err error) {
	if from, err = flatten(from); err != nil {
		return nil, err
	}
	if len(from) > 64 {
		return nil, fmt.Errorf("at most 64 tables in a join")
	}
	right := slices.ContainsFunc(from, func(n syntax.Source) bool { return n.Join&syntax.JoinRight != 0 })
	for i := range from {
		n := &from[i]
		if right && (n.Using != nil || n.Join&syntax.JoinNatural != 0) {
			return nil, unsupported("USING and NATURAL next to RIGHT and FULL JOIN")
		}
		src, err := r.source(s, n)
		if err != nil {
			return nil, err
		}
		src.Core, src.Index, src.Join = s.core, i, n.Join
		using, err := s.using(src, n)
		if err != nil {
			return nil, err
		}
		s.core.Sources = append(s.core.Sources, src)
		joins = append(joins, join{src, n.On, using})
	}
	return joins, nil
}

// flatten puts sources in parentheses next to the others where that means the same.
func flatten(from []syntax.Source) (flat []syntax.Source, err error) {
	for i := range from {
		n := &from[i]
		if n.Nested == nil {
			flat = append(flat, *n)
			continue
		}
		nested, err := flatten(n.Nested)
		if err != nil {
			return nil, err
		}
		plain := !n.Alias.IsZero() || n.On != nil || n.Using != nil || n.Join&(syntax.JoinNatural|syntax.JoinOuter|syntax.JoinCross) != 0
		for _, inner := range nested {
			plain = plain || inner.Join&(syntax.JoinNatural|syntax.JoinOuter|syntax.JoinCross) != 0 || inner.Using != nil
		}
		if plain && !(len(nested) == 1 && n.Alias.IsZero()) && (i > 0 || !n.Alias.IsZero()) {
			return nil, unsupported("joins in parentheses")
		}
		nested[0].Join = n.Join
		if len(nested) == 1 {
			nested[0].On, nested[0].Using = n.On, n.Using
		}
		flat = append(flat, nested...)
	}
	return flat, nil
}

// source resolves one entry of FROM.
func (r *resolver) source(s *scope, n *syntax.Source) (*Source, error) {
	if n.Function {
		return nil, unsupported("the table-valued function %s", n.Name.Name.Text)
	}
	if n.Query != nil {
		q, err := r.fromQuery(s, n.Query)
		if err != nil {
			return nil, err
		}
		return &Source{Name: n.Alias.Text, Query: q, Columns: q.asSource()}, nil
	}
	src, err := r.named(s, n)
	if err != nil {
		return nil, err
	}
	if src.Object = src.Name; !n.Alias.IsZero() {
		src.Name = n.Alias.Text
	}
	if src.Table != nil && !n.IndexedBy.IsZero() && !r.catalog.Index(src.Table.Name, n.IndexedBy.Text) || src.Table == nil && !n.IndexedBy.IsZero() {
		return nil, fmt.Errorf("no such index: %s", n.IndexedBy.Text)
	}
	src.Path = Path{n.IndexedBy.Text, n.NotIndexed}
	return src, nil
}

// fromQuery resolves a query in FROM, which does not see the other sources.
func (r *resolver) fromQuery(s *scope, n *syntax.Select) (*Query, error) {
	around := *s
	around.core, around.aliases = nil, nil
	return r.query(&around, n)
}

// named resolves the name of a common table expression, a table or a view.
func (r *resolver) named(s *scope, n *syntax.Source) (*Source, error) {
	name := n.Name.Name.Text
	if n.Name.Schema.IsZero() {
		for at := s.with; at != nil; at = at.parent {
			if strings.EqualFold(at.table.Name.Text, name) {
				return r.commonTable(s, at)
			}
		}
	}
	if schema := n.Name.Schema; !schema.IsZero() && !strings.EqualFold(schema.Text, "main") {
		return nil, fmt.Errorf("no such table: %s.%s", schema.Text, name)
	}
	o, ok := r.catalog.Object(name)
	switch {
	case !ok && strings.HasPrefix(strings.ToLower(name), "pragma_"), !ok && strings.HasPrefix(strings.ToLower(name), "sqlite_temp"):
		return nil, unsupported("the table %s", name)
	case !ok && !n.Name.Schema.IsZero():
		return nil, fmt.Errorf("no such table: %s.%s", n.Name.Schema.Text, name)
	case !ok:
		return nil, fmt.Errorf("no such table: %s", name)
	case o.Type == "view":
		return r.view(o.Name, o.SQL)
	}
	t, err := r.catalog.Table(o.Name)
	if err != nil {
		return nil, err
	}
	src := &Source{Name: t.Name, Schema: "main", Table: t, Columns: make([]Column, len(t.Columns))}
	for i, c := range t.Columns {
		src.Columns[i] = Column{Name: c.Name, Type: c.Type, Affinity: c.Affinity, Collation: c.Collation}
	}
	return src, nil
}

// view resolves the query of a view.
func (r *resolver) view(name, sql string) (*Source, error) {
	if slices.Contains(r.views, name) {
		return nil, fmt.Errorf("view %s is circularly defined", name)
	}
	parsed, failed := syntax.Parse(sql)
	if failed != nil {
		return nil, fmt.Errorf("malformed database schema (%s) - %w", name, failed)
	}
	v, ok := parsed.Statement.(*syntax.CreateView)
	if !ok {
		return nil, fmt.Errorf("malformed database schema (%s)", name)
	}
	inner := &resolver{catalog: r.catalog, queries: r.queries, views: append(slices.Clip(r.views), name), sql: sql}
	q, err := inner.query(nil, v.Query)
	r.queries = inner.queries
	if err != nil {
		return nil, err
	}
	columns := q.asSource()
	if v.Columns != nil {
		if len(v.Columns) != len(columns) {
			return nil, fmt.Errorf("expected %d columns for '%s' but got %d", len(v.Columns), name, len(columns))
		}
		for i := range columns {
			columns[i].Name = v.Columns[i].Name.Text
		}
	}
	return &Source{Name: name, Schema: "main", Query: q, Columns: columns, View: true}, nil
}

// asSource returns the columns of a query as those of a source. Of equal names all but the first
// get a number. The collations are those of the first SELECT; a column always has one, even if its
// expression has none, and so decides in a comparison with a column to its right.
func (q *Query) asSource() []Column {
	columns := slices.Clone(q.Columns)
	seen, last := make(map[string]bool), make(map[string]int) // last number by the name without it
	for i := range columns {
		c := &columns[i]
		c.Hidden, c.Collation = false, max(q.Cores[0].rows()[0][i].Collation, value.Binary)
		base := c.Name
		for seen[strings.ToLower(c.Name)] {
			last[base]++
			c.Name = fmt.Sprintf("%s:%d", base, last[base])
		}
		seen[strings.ToLower(c.Name)] = true
	}
	return columns
}

// commonTable resolves the name of a common table expression.
func (r *resolver) commonTable(s *scope, at *environment) (*Source, error) {
	name := at.table.Name.Text
	if at.active {
		switch {
		case at.rows == nil:
			return nil, fmt.Errorf("circular reference: %s", name)
		case at.rows.source != nil:
			return nil, fmt.Errorf("multiple references to recursive table: %s", name)
		case s.parent != at.scope.parent || s.query != at.scope.query:
			return nil, fmt.Errorf("recursive reference in a subquery: %s", name)
		}
		at.rows.source = &Source{Name: name, Columns: slices.Clone(at.rows.columns)}
		return at.rows.source, nil
	}
	at.active = true
	at.common.uses++
	defer func() { at.active, at.rows = false, nil }()
	n := at.table.Query
	first := recursiveFrom(n, name)
	parent := *at.scope
	if first == len(n.Cores) {
		q, err := r.query(&parent, n)
		if err != nil {
			return nil, err
		}
		columns, err := namedColumns(q, at.table)
		return &Source{Name: name, Query: q, Columns: columns, Common: at.common}, err
	}
	return r.recursive(&parent, at, n, first)
}

// recursiveFrom returns the first core of a query that reads the rows so far of the query itself.
func recursiveFrom(n *syntax.Select, name string) int {
	last := len(n.Cores)
	op := n.Cores[last-1].Compound
	if op != syntax.Union && op != syntax.UnionAll {
		return last
	}
	reads := func(c *syntax.Core) bool {
		return slices.ContainsFunc(c.From, func(f syntax.Source) bool {
			return f.Query == nil && f.Name.Schema.IsZero() && strings.EqualFold(f.Name.Name.Text, name)
		})
	}
	first := last
	for first > 1 && n.Cores[first-1].Compound == op && reads(&n.Cores[first-1]) {
		first--
	}
	return first
}

// recursive resolves a recursive common table expression.
func (r *resolver) recursive(parent *scope, at *environment, n *syntax.Select, first int) (*Source, error) {
	q, base, err := r.begin(parent, n)
	if err != nil {
		return nil, err
	}
	scopes, err := r.cores(base, n, q, 0, first)
	if err != nil {
		return nil, err
	}
	if err := r.setColumns(q, n); err != nil {
		return nil, err
	}
	columns, err := namedColumns(q, at.table)
	if err != nil {
		return nil, err
	}
	at.scope = base
	at.rows = &recursion{columns: slices.Clone(columns)}
	for i := range columns {
		at.rows.columns[i].Affinity = value.NoAffinity
	}
	q.First = first
	for i := first; i < len(n.Cores); i++ {
		at.rows.source = nil
		more, err := r.cores(base, n, q, i, i+1)
		if err != nil {
			return nil, err
		}
		if c := q.Cores[i]; c.Grouped {
			return nil, fmt.Errorf("recursive aggregate queries not supported")
		}
		scopes = append(scopes, more...)
		q.Recursive = append(q.Recursive, at.rows.source)
	}
	at.scope = parent
	q.setRecursiveTypes()
	for i := range columns {
		columns[i].Affinity = q.Columns[i].Affinity
		for _, src := range q.Recursive {
			src.Columns[i].Affinity = q.Columns[i].Affinity
		}
	}
	if err := r.finish(base, scopes, n, q); err != nil {
		return nil, err
	}
	return &Source{Name: at.table.Name.Text, Query: q, Columns: columns, Common: at.common}, nil
}

// setRecursiveTypes sets the affinities of the columns of a recursive query, those of its own rows
// that its recursive part reads among them. Like SQLite, it does so column by column: where the
// recursive part reads a column whose affinity is not known yet, it has none.
func (q *Query) setRecursiveTypes() {
	for i := range q.Columns {
		q.setType(i)
		q.Visit(func(e *Expr) {
			if e.Kind == ColumnOf && e.Number == i && slices.Contains(q.Recursive, e.Source) {
				e.Affinity = q.Columns[i].Affinity
			}
		})
		for changed := true; changed; {
			changed = false
			q.Visit(func(e *Expr) {
				if n := e.With(func(e *Expr) *Expr { return e }); n != e {
					e.Affinity, changed = n.Affinity, true
				}
			})
		}
	}
}

// namedColumns returns the columns of a common table expression.
func namedColumns(q *Query, t *syntax.CommonTable) ([]Column, error) {
	columns := q.asSource()
	if t.Columns == nil {
		return columns, nil
	}
	if len(t.Columns) != len(columns) {
		return nil, fmt.Errorf("table %s has %d values for %d columns", t.Name.Text, len(columns), len(t.Columns))
	}
	for i := range columns {
		columns[i].Name = t.Columns[i].Name.Text
	}
	return columns, nil
}

// using compares the columns of USING, or those that NATURAL names, with those of the sources
// before.
func (s *scope) using(src *Source, n *syntax.Source) (equal []*Expr, err error) {
	names := n.Using
	if n.Join&syntax.JoinNatural != 0 {
		if n.On != nil || n.Using != nil {
			return nil, fmt.Errorf("a NATURAL join may not have an ON or USING clause")
		}
		for _, c := range src.Columns {
			if left, _ := s.leftColumn(c.Name); left != nil {
				names = append(names, syntax.Name{Text: c.Name})
			}
		}
	}
	for _, name := range names {
		right := src.column(name.Text)
		left, i := s.leftColumn(name.Text)
		if right < 0 || left == nil {
			return nil, fmt.Errorf("cannot join using column %s - column not present in both tables", name.Text)
		}
		src.Columns[right].Hidden = true
		e := equate(left.reference(i), src.reference(right))
		equal = append(equal, e)
	}
	return equal, nil
}

// leftColumn returns the first source with a column of a name.
func (s *scope) leftColumn(name string) (*Source, int) {
	for _, src := range s.core.Sources {
		if i := src.column(name); i >= 0 {
			return src, i
		}
	}
	return nil, -1
}

// joins resolves the conditions of the joins.
func (r *resolver) joins(s *scope, joins []join) error {
	for _, j := range joins {
		conditions := j.using
		if j.on != nil {
			s.clause = inWhere
			e, err := r.scalar(s, j.on)
			if err != nil {
				return err
			}
			if j.source.OwnCondition() && e.Uses(s.core)>>(j.source.Index+1) != 0 {
				return fmt.Errorf("ON clause references tables to its right")
			}
			conditions = Conjuncts(conditions, e)
		}
		if j.source.OwnCondition() {
			j.source.On = conditions
		} else {
			s.core.Where = append(s.core.Where, conditions...)
		}
	}
	return nil
}
