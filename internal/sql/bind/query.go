package bind

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

// maxQueries bounds the queries of a statement: each use of a view or a common table expression is
// a query of its own, so that their number can grow exponentially.
const maxQueries = 2000

// maxColumns is how many columns a result, and how many terms ORDER BY and GROUP BY, can have.
const maxColumns = 2000

// Select resolves a query.
func Select(c *catalog.Catalog, sql string, n *syntax.Select) (*Query, error) {
	r := &resolver{catalog: c, sql: sql}
	return r.query(nil, n)
}

// query resolves a query within a scope.
func (r *resolver) query(parent *scope, n *syntax.Select) (*Query, error) {
	q, base, err := r.begin(parent, n)
	if err != nil {
		return nil, err
	}
	scopes, err := r.cores(base, n, q, 0, len(n.Cores))
	if err != nil {
		return nil, err
	}
	if err := r.setColumns(q, n); err != nil {
		return nil, err
	}
	return q, r.finish(base, scopes, n, q)
}

// begin returns a query without cores, and the scope in which they are resolved.
func (r *resolver) begin(parent *scope, n *syntax.Select) (*Query, *scope, error) {
	if r.queries++; r.queries > maxQueries {
		return nil, nil, unsupported("a statement with more than %d queries, those of views and common tables among them", maxQueries)
	}
	q := &Query{Syntax: n}
	base := &scope{parent: parent, query: q}
	if parent != nil {
		base.with = parent.with
	}
	if n.With != nil {
		r.with = true
		if err := base.addTables(n.With); err != nil {
			return nil, nil, err
		}
	}
	return q, base, nil
}

// addTables lets the scope see common table expressions, each of which sees all of them.
func (s *scope) addTables(w *syntax.With) error {
	for i := range w.Tables {
		t := &w.Tables[i]
		for j := range i {
			if strings.EqualFold(w.Tables[j].Name.Text, t.Name.Text) {
				return fmt.Errorf("duplicate WITH table name: %s", t.Name.Text)
			}
		}
		s.with = &environment{parent: s.with, table: t, common: &Common{hint: t.Materialized}}
	}
	at := s.with
	for range w.Tables {
		at.scope = &scope{parent: s.parent, query: s.query, with: s.with}
		at = at.parent
	}
	return nil
}

// cores resolves some of the cores of a query and adds them to it.
func (r *resolver) cores(base *scope, n *syntax.Select, q *Query, from, to int) ([]*scope, error) {
	var scopes []*scope
	for i := from; i < to; i++ {
		c := &n.Cores[i]
		s := *base
		s.core = &Core{}
		if err := r.core(&s, c); err != nil {
			return nil, err
		}
		q.Cores = append(q.Cores, s.core)
		q.Operators = append(q.Operators, c.Compound)
		scopes = append(scopes, &s)
		if s.core.width() != q.Cores[0].width() {
			if c.Values != nil && c.Compound == syntax.UnionAll && n.Cores[i-1].Values != nil {
				return nil, fmt.Errorf("all VALUES must have the same number of terms")
			}
			return nil, fmt.Errorf("SELECTs to the left and right of %s do not have the same number of result columns", c.Compound)
		}
	}
	return scopes, nil
}

func (c *Core) width() int {
	if c.Values != nil {
		return len(c.Values[0])
	}
	return len(c.Results)
}

// rows returns the expressions of the rows of VALUES, or the results of a SELECT as one row.
func (c *Core) rows() [][]*Expr {
	if c.Values != nil {
		return c.Values
	}
	return [][]*Expr{c.Results}
}

// core resolves one SELECT or VALUES.
func (r *resolver) core(s *scope, n *syntax.Core) (err error) {
	if n.Values != nil {
		if err := checkValues(n.Values); err != nil {
			return err
		}
		for _, row := range n.Values {
			if len(row) > maxColumns {
				return errTooManyColumns
			}
			args, err := r.scalars(s, row...)
			if err != nil {
				return err
			}
			if s.core.Values != nil && len(args) != len(s.core.Values[0]) {
				return fmt.Errorf("all VALUES must have the same number of terms")
			}
			s.core.Values = append(s.core.Values, args)
		}
		s.core.Clause = !r.with && len(n.Values) > 1 && !slices.ContainsFunc(s.core.Values, func(row []*Expr) bool {
			return slices.ContainsFunc(row, func(e *Expr) bool { return !e.Constant() })
		}) && !slices.ContainsFunc(s.core.Values[0], func(e *Expr) bool { return e.Affinity != value.NoAffinity })
		return nil
	}
	if len(n.Windows) > 0 {
		return unsupported("window functions")
	}
	s.core.Distinct = n.Distinct
	joins, err := r.sources(s, n.From)
	if err != nil {
		return err
	}
	if err := r.results(s, n); err != nil {
		return err
	}
	if err := r.joins(s, joins); err != nil {
		return err
	}
	if n.Having != nil {
		if n.GroupBy == nil && !s.core.Grouped { // whatever HAVING itself has
			return fmt.Errorf("HAVING clause on a non-aggregate query")
		}
		s.clause = inOrderBy
		if s.core.Having, err = r.scalar(s, n.Having); err != nil {
			return err
		}
	}
	if n.Where != nil {
		s.clause = inWhere
		e, err := r.scalar(s, n.Where)
		if err != nil {
			return err
		}
		s.core.Where = Conjuncts(s.core.Where, e)
	}
	return r.groupBy(s, n)
}

// checkValues refuses IS TRUE in several rows, where SQLite compares with 1 instead.
func checkValues(rows [][]*syntax.Expr) (err error) {
	if len(rows) == 1 {
		return nil
	}
	for _, row := range rows {
		for _, e := range row {
			syntax.Walk(e, func(n syntax.Node) bool {
				if e, ok := n.(*syntax.Expr); ok && (e.Op == syntax.OpIs || e.Op == syntax.OpIsNot) {
					if _, ok := e.Right.Truth(); ok {
						err = unsupported("IS TRUE in VALUES with several rows")
					}
				}
				return err == nil
			})
		}
	}
	return err
}

// Conjuncts appends the operands of AND to a list.
func Conjuncts(list []*Expr, e *Expr) []*Expr {
	if e.Kind != And {
		return append(list, e)
	}
	return Conjuncts(Conjuncts(list, e.Args[0]), e.Args[1])
}

// results resolves the columns of the result.
func (r *resolver) results(s *scope, n *syntax.Core) error {
	s.clause = inResults
	width := len(n.Columns)
	for i := range n.Columns {
		if e := n.Columns[i].Expr; e.Op == syntax.OpStar {
			width += r.starWidth(s.core, e.Path) - 1
		}
	}
	if width > maxColumns {
		return errTooManyColumns
	}
	for i := range n.Columns {
		c := &n.Columns[i]
		if c.Expr.Op == syntax.OpStar {
			if err := s.star(c.Expr.Path); err != nil {
				return err
			}
			continue
		}
		e, err := r.scalar(s, c.Expr)
		if err != nil {
			return err
		}
		s.core.Results = append(s.core.Results, e)
		if !c.Alias.IsZero() {
			s.aliases = append(s.aliases, alias{c.Alias.Text, e})
		}
	}
	return nil
}

// star adds all columns of the sources, or of one of them.
func (s *scope) star(path []syntax.Name) error {
	if len(path) == 0 && len(s.core.Sources) == 0 {
		return fmt.Errorf("no tables specified")
	}
	found := false
	for _, src := range s.core.Sources {
		if !src.named(path) {
			continue
		}
		found = true
		for i := range src.Columns {
			if len(path) > 0 || !src.Columns[i].Hidden {
				if s.core.namesake(src, i) {
					return fmt.Errorf("ambiguous column name: %s.%s.%s", cmp.Or(src.Schema, "*"), src.Name, src.Columns[i].Name)
				}
				s.core.Results = append(s.core.Results, src.reference(i))
			}
		}
	}
	if !found {
		return fmt.Errorf("no such table: %s", path[len(path)-1].Text)
	}
	return nil
}

// namesake reports whether another source has the name of one, and a column as its column i.
func (c *Core) namesake(src *Source, i int) bool {
	return src.Name != "" && slices.ContainsFunc(c.Sources, func(other *Source) bool {
		return other != src && strings.EqualFold(other.Name, src.Name) && other.Schema == src.Schema &&
			slices.ContainsFunc(other.Columns, func(k Column) bool {
				return strings.EqualFold(k.Name, src.Columns[i].Name) && !k.Hidden && !src.Columns[i].Hidden
			})
	})
}

func (r *resolver) groupBy(s *scope, n *syntax.Core) error {
	if len(n.GroupBy) > maxColumns {
		return fmt.Errorf("too many terms in GROUP BY clause")
	}
	for i, g := range n.GroupBy {
		s.clause = inGroupBy
		s.core.Grouped = true
		at, ok := position(uncollated(g))
		switch {
		case ok && (at < 1 || at > int64(len(s.core.Results))):
			return fmt.Errorf("%s GROUP BY term out of range - should be between 1 and %d", ordinal(i+1), len(s.core.Results))
		case ok:
			e := s.core.Results[at-1]
			if hasAggregate(e) {
				return fmt.Errorf("aggregate functions are not allowed in the GROUP BY clause")
			}
			s.core.GroupBy = append(s.core.GroupBy, collated(r, g, e))
			continue
		}
		e, err := r.scalar(s, g)
		if err != nil {
			return err
		}
		s.core.GroupBy = append(s.core.GroupBy, e)
	}
	return nil
}

// collated is the expression that a term of ORDER BY or GROUP BY names, with the COLLATE operator
// of the term.
func collated(r *resolver, term *syntax.Expr, e *Expr) *Expr {
	if term.Op != syntax.OpCollate {
		return e
	}
	order, _ := value.CollationOf(term.Text)
	return &Expr{Kind: Collate, Args: []*Expr{e}, Affinity: e.Affinity, Collation: order, Explicit: true}
}

// uncollated returns a term without COLLATE operators.
func uncollated(term *syntax.Expr) *syntax.Expr {
	for term.Op == syntax.OpCollate {
		term = term.Left
	}
	return term
}

// position returns the number of a column that a term is.
func position(term *syntax.Expr) (at int64, ok bool) {
	switch term.Op {
	case syntax.OpInteger:
		return term.Int(), term.Int() == int64(int32(term.Int())) // larger ones are expressions
	case syntax.OpIsNull, syntax.OpNotNull: // of a literal, which SQLite replaces by 0 or 1
		switch inner := unsigned(term.Left); inner.Op {
		case syntax.OpInteger, syntax.OpFloat, syntax.OpString, syntax.OpBlob:
			if term.Op == syntax.OpNotNull {
				at = 1
			}
			return at, true
		}
	case syntax.OpAnd: // of something false, which SQLite replaces by 0
		for _, e := range []*syntax.Expr{term.Left, term.Right} {
			if at, ok := position(e); ok && at == 0 && e.Op != syntax.OpPlus && e.Op != syntax.OpMinus {
				return 0, true
			}
		}
	case syntax.OpPlus:
		return position(term.Left)
	case syntax.OpMinus:
		at, ok = position(term.Left)
		return -at, ok
	}
	return 0, false
}

// unsigned returns an expression without the signs before it.
func unsigned(e *syntax.Expr) *syntax.Expr {
	for e.Op == syntax.OpPlus || e.Op == syntax.OpMinus {
		e = e.Left
	}
	return e
}

func ordinal(i int) string {
	suffix := "th"
	if i/10%10 != 1 {
		switch i % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", i, suffix)
}

// finish resolves ORDER BY and LIMIT.
func (r *resolver) finish(base *scope, scopes []*scope, n *syntax.Select, q *Query) (err error) {
	if len(n.OrderBy) > maxColumns {
		return fmt.Errorf("too many terms in ORDER BY clause")
	}
	for i, term := range n.OrderBy {
		o := Order{Desc: term.Order == syntax.OrderDesc}
		o.NullsFirst = term.Nulls == syntax.NullsFirst || term.Nulls == syntax.NullsNone && !o.Desc
		if len(scopes) == 1 && q.Cores[0].Values == nil {
			err = r.orderTerm(scopes[0], i, term.Expr, &o)
		} else {
			err = r.compoundTerm(scopes, i, term.Expr, q, &o)
		}
		if err != nil {
			return err
		}
		q.OrderBy = append(q.OrderBy, o)
	}
	limit := &scope{query: q, with: base.with, parent: nil}
	if n.Limit != nil {
		if q.Limit, err = r.scalar(limit, n.Limit); err != nil {
			return err
		}
	}
	if n.Offset != nil {
		q.Offset, err = r.scalar(limit, n.Offset)
	}
	return err
}

// orderTerm resolves a term of ORDER BY of a query with one core.
func (r *resolver) orderTerm(s *scope, i int, term *syntax.Expr, o *Order) (err error) {
	s.clause = inOrderBy
	if s.core != nil && !s.core.Grouped {
		defer func() {
			if err == nil && s.core.Grouped {
				err = fmt.Errorf("misuse of aggregate: %s()", s.core.Aggregates[0].Text)
			}
		}()
	}
	inner := uncollated(term)
	if at, ok := position(inner); ok {
		if at < 1 || at > int64(len(s.core.Results)) {
			return fmt.Errorf("%s ORDER BY term out of range - should be between 1 and %d", ordinal(i+1), len(s.core.Results))
		}
		o.Expr = collated(r, term, s.core.Results[at-1])
	} else if e := s.byAlias(inner); e != nil {
		o.Expr = collated(r, term, e)
	} else if o.Expr, err = r.scalar(s, term); err != nil {
		return err
	}
	o.Collation = o.Expr.Collation
	return nil
}

// byAlias returns the column of the result whose alias a term is.
func (s *scope) byAlias(term *syntax.Expr) *Expr {
	if term.Op != syntax.OpColumn || len(term.Path) > 0 {
		return nil
	}
	for _, a := range s.aliases {
		if strings.EqualFold(a.name, term.Text) {
			return a.expr
		}
	}
	return nil
}

// compoundTerm resolves a term of ORDER BY of a compound, which must be a column of the result.
func (r *resolver) compoundTerm(scopes []*scope, i int, term *syntax.Expr, q *Query, o *Order) error {
	inner := uncollated(term)
	o.Column = -1
	if at, ok := position(inner); ok {
		if at < 1 || at > int64(len(q.Columns)) {
			return fmt.Errorf("%s ORDER BY term out of range - should be between 1 and %d", ordinal(i+1), len(q.Columns))
		}
		o.Column = int(at - 1)
	}
	for _, s := range scopes {
		if o.Column >= 0 {
			break
		}
		if s.core.Values != nil {
			if inner.Op == syntax.OpColumn && len(inner.Path) == 0 {
				o.Column = slices.IndexFunc(q.Columns, func(c Column) bool { return strings.EqualFold(c.Name, inner.Text) })
			}
			continue
		}
		e := s.byAlias(inner)
		if e == nil {
			s.clause = inResults
			var err error
			if e, err = r.scalar(s, inner); err != nil {
				continue
			}
		}
		o.Column = slices.IndexFunc(s.core.Results, func(x *Expr) bool { return Same(x, e) })
	}
	if o.Column < 0 {
		return fmt.Errorf("%s ORDER BY term does not match any column in the result set", ordinal(i+1))
	}
	o.Collation = q.Columns[o.Column].Collation
	if term.Op == syntax.OpCollate {
		order, ok := value.CollationOf(term.Text)
		if !ok {
			return fmt.Errorf("no such collation sequence: %s", term.Text)
		}
		o.Collation = order
	}
	return nil
}

// setColumns names and types the columns of the result.
func (r *resolver) setColumns(q *Query, n *syntax.Select) error {
	core, first := q.Cores[0], &n.Cores[0]
	q.Columns = make([]Column, core.width())
	if core.Values != nil {
		for i := range q.Columns {
			q.Columns[i].Name = fmt.Sprintf("column%d", i+1)
		}
	} else {
		i := 0
		for k := range first.Columns {
			c := &first.Columns[k]
			if c.Expr.Op == syntax.OpStar {
				for end := i + r.starWidth(core, c.Expr.Path); i < end; i++ {
					q.Columns[i].Name = r.columnName(core.Results[i], "")
				}
				continue
			}
			q.Columns[i].Name = c.Alias.Text
			if c.Alias.IsZero() {
				q.Columns[i].Name = r.columnName(core.Results[i], c.Words(r.sql))
				if c.Expr.Op != syntax.OpColumn {
					q.Columns[i].Name = c.Words(r.sql)
				}
			}
			i++
		}
	}
	for i := range q.Columns {
		q.Columns[i].Type = core.rows()[0][i].declared()
		q.setType(i)
	}
	return nil
}

func (r *resolver) starWidth(core *Core, path []syntax.Name) (n int) {
	for _, src := range core.Sources {
		for i := range src.Columns {
			if src.named(path) && (len(path) > 0 || !src.Columns[i].Hidden) {
				n++
			}
		}
	}
	return n
}

// columnName is the name of a column of the result that has no alias.
func (r *resolver) columnName(e *Expr, text string) string {
	if e.Kind != ColumnOf {
		return text
	}
	i := e.Number
	if i == catalog.Rowid && e.Source.Table != nil {
		if i = e.Source.Table.Alias; i < 0 {
			return "rowid"
		}
	}
	return e.Source.Columns[i].Name
}

// declared returns the declared type of the column that an expression is.
func (e *Expr) declared() string {
	switch {
	case e.Kind == Scalar:
		return e.Query.Columns[0].Type
	case e.Kind != ColumnOf:
		return ""
	case e.Number >= 0:
		return e.Source.Columns[e.Number].Type
	case e.Source.Table != nil && e.Source.Table.Alias >= 0:
		return e.Source.Columns[e.Source.Table.Alias].Type
	}
	return "INTEGER"
}

// setType sets affinity and collation of a column as other queries see it.
func (q *Query) setType(i int) {
	var all []*Expr
	for _, c := range q.Cores {
		for _, row := range c.rows() {
			all = append(all, row[i])
		}
	}
	c := &q.Columns[i]
	for _, core := range q.Cores {
		for _, row := range core.rows()[:1] {
			if c.Collation == value.NoCollation {
				c.Collation = row[i].Collation
			}
		}
	}
	c.Affinity = all[0].Affinity
	kinds, at := uint8(0), 0
	for c.Affinity <= catalog.Blob && c.Affinity == value.NoAffinity && at+1 < len(all) {
		kinds |= all[at].kinds()
		at++
		c.Affinity = all[at].Affinity
	}
	if c.Affinity < catalog.Text || len(all) == 1 {
		return
	}
	for _, e := range all[at+1:] {
		kinds |= e.kinds()
	}
	if c.Affinity == catalog.Text && kinds&1 != 0 || c.Affinity.Numeric() && kinds&2 != 0 {
		c.Affinity = catalog.Blob
	} else if c.Affinity.Numeric() && all[0].Kind == Cast {
		c.Affinity = catalog.Numeric
	}
}

// kinds returns which values an expression can have, as SQLite guesses: 1 for numbers, 2 for texts,
// 4 for BLOBs.
func (e *Expr) kinds() (k uint8) {
	switch e.Kind {
	case Collate, Plus:
		return e.Args[0].kinds()
	case Literal:
		return [...]uint8{record.Null: 0, record.Integer: 1, record.Float: 1, record.Text: 2, record.Blob: 4}[e.Value.Kind()]
	case Parameter, Result, Call, Match:
		return 7
	case ColumnOf, Scalar, Cast:
		switch {
		case e.Affinity.Numeric():
			return 5
		case e.Affinity == catalog.Text:
			return 6
		}
		return 7
	case Case:
		for i, a := range e.Args {
			if i%2 == 1 || i == len(e.Args)-1 {
				k |= a.kinds()
			}
		}
		return k
	case Binary:
		if e.Op == concat {
			return 6
		}
	}
	return 1
}
