package bind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/syntax"
)

// A Change is an INSERT, UPDATE or DELETE whose names are resolved.
type Change struct {
	Table *catalog.Table
	Or    syntax.Conflict

	// Query makes the rows to insert; nil for DEFAULT VALUES. For UPDATE and DELETE it makes the
	// keys of the rows to change: the rowid, or the columns of the primary key. An UPDATE with FROM
	// has the values of SET behind these.
	Query  *Query
	Keys   int   // how many results of Query are the key; 0 for INSERT
	Places []int // of INSERT, by column: the place of its value in a row of Query, or -1
	Rowid  int   // the same for the rowid

	Set     *Set // of UPDATE
	Upserts []Upsert

	Returning *Query // with one core, whose results read Row
	Row       *Source
}

// An Upsert is an ON CONFLICT clause.
type Upsert struct {
	Any     bool     // it has no target
	Key     bool     // the target is the rowid, or the primary key of a table WITHOUT ROWID
	Indexes []string // the unique indexes that are the target
	Set     *Set     // of DO UPDATE; nil for DO NOTHING
}

// A Set has the assignments of an UPDATE, or of DO UPDATE.
type Set struct {
	Columns  []int   // that get values; [catalog.Rowid] is the rowid
	Values   *Query  // with one core, whose results are the values; nil if Change.Query has them
	Where    bool    // the last result is the condition of DO UPDATE
	Row      *Source // as it was
	Excluded *Source // the row that could not be inserted
}

// Queries returns the queries of the statement. The expressions that read single rows are the
// results of some of them.
func (c *Change) Queries() (list []*Query) {
	add := func(q *Query) {
		if q != nil {
			list = append(list, q)
		}
	}
	add(c.Query)
	if c.Set != nil {
		add(c.Set.Values)
	}
	for _, u := range c.Upserts {
		if u.Set != nil {
			add(u.Set.Values)
		}
	}
	add(c.Returning)
	return list
}

// Reads reports whether a query, or one within it, reads a table.
func (q *Query) Reads(table string) (found bool) {
	q.Queries(func(q *Query) {
		for _, c := range q.Cores {
			for _, s := range c.Sources {
				found = found || s.Table != nil && strings.EqualFold(s.Table.Name, table)
			}
		}
	})
	return found
}

// A block resolves expressions that read single rows, as the results of a query with one core.
type block struct {
	scope *scope
	query *Query
	row   *Source
}

// target resolves the table that a statement changes. The event is that of the triggers it fires.
func (r *resolver) target(n *syntax.Target, event syntax.TriggerEvent) (*Source, error) {
	src, err := r.named(&scope{}, &syntax.Source{Name: n.QualifiedName})
	if err != nil {
		return nil, err
	}
	switch name := strings.ToLower(src.Name); {
	case src.View && r.instead(src.Name, event):
		return nil, unsupported("view %s has an INSTEAD OF trigger", src.Name)
	case src.View:
		return nil, fmt.Errorf("cannot modify %s because it is a view", src.Name)
	case name == "sqlite_master":
		return nil, fmt.Errorf("table %s may not be modified", src.Name)
	}
	return src, nil
}

// instead reports whether a view has an INSTEAD OF trigger for an event, so that SQLite can change
// the view.
func (r *resolver) instead(view string, event syntax.TriggerEvent) bool {
	return slices.ContainsFunc(r.catalog.Triggers(view), func(sql string) bool {
		p, err := syntax.ParseStored(sql)
		if err != nil {
			return false
		}
		t, ok := p.Statement.(*syntax.CreateTrigger)
		return ok && t.Time == syntax.TriggerInsteadOf && t.Event == event
	})
}

// block returns a block that reads a row of the table under the name that the statement gives it.
func (r *resolver) block(base *scope, table *Source, n *syntax.Target) *block {
	row := *table
	if row.Object = row.Name; !n.Alias.IsZero() {
		row.Name = n.Alias.Text
	}
	core := &Core{Sources: []*Source{&row}}
	row.Core = core
	q := &Query{Cores: []*Core{core}, Operators: make([]syntax.Compound, 1)}
	s := *base
	s.core, s.query = core, q
	return &block{&s, q, &row}
}

// base returns the scope of a statement, which sees its common table expressions.
func (r *resolver) base(w *syntax.With) (*scope, error) {
	base := &scope{query: &Query{}}
	if w == nil {
		return base, nil
	}
	r.with = true
	return base, base.addTables(w)
}

// returning resolves a RETURNING clause.
func (r *resolver) returning(c *Change, base *scope, table *Source, target *syntax.Target, list []syntax.Column) error {
	if list == nil {
		return nil
	}
	t := *target
	t.Alias = syntax.Name{} // RETURNING knows the table by its name alone
	b := r.block(base, table, &t)
	core := syntax.Core{Columns: list}
	if err := r.results(b.scope, &core); err != nil {
		return err
	}
	if len(b.scope.core.Aggregates) > 0 {
		return fmt.Errorf("misuse of aggregate: %s()", b.scope.core.Aggregates[0].Text)
	}
	for _, e := range b.scope.core.Results {
		e.Visit(func(e *Expr) {
			if e.Query != nil && e.Query.Reads(table.Name) { // it is asked for each row anew
				e.Query.Outer = append(e.Query.Outer, b.row)
			}
		})
	}
	c.Returning, c.Row = b.query, b.row
	return r.setColumns(b.query, &syntax.Select{Cores: []syntax.Core{core}})
}

// Insert resolves an INSERT.
func Insert(cat *catalog.Catalog, sql string, n *syntax.Insert) (*Change, error) {
	r := &resolver{catalog: cat, sql: sql}
	table, err := r.target(&n.Table, syntax.TriggerInsert)
	if err != nil {
		return nil, err
	}
	c := &Change{Table: table.Table, Or: n.Conflict, Rowid: -1}
	if n.Replace {
		c.Or = syntax.ConflictReplace
	}
	base, err := r.base(n.With)
	if err != nil {
		return nil, err
	}
	if n.Query != nil {
		if c.Query, err = r.query(base, n.Query); err != nil {
			return nil, err
		}
	}
	if err := c.place(table, n); err != nil {
		return nil, err
	}
	for i := range n.Upserts {
		u, err := r.upsert(base, table, n, i)
		if err != nil {
			return nil, err
		}
		c.Upserts = append(c.Upserts, u)
	}
	return c, r.returning(c, base, table, &n.Table, n.Returning)
}

// place finds the places of the values of the columns.
func (c *Change) place(table *Source, n *syntax.Insert) error {
	t := table.Table
	c.Places = make([]int, len(t.Columns))
	for i := range c.Places {
		c.Places[i] = -1
	}
	given := 0
	if n.Columns == nil && c.Query != nil {
		for i := range t.Columns {
			switch {
			case t.Columns[i].Generated:
				continue
			case i == t.Alias:
				c.Rowid = given
			default:
				c.Places[i] = given
			}
			given++
		}
	}
	for place, name := range n.Columns {
		i := table.column(name.Text)
		switch {
		case i >= 0 && t.Columns[i].Generated:
			return fmt.Errorf("cannot INSERT into generated column \"%s\"", t.Columns[i].Name)
		case i >= 0 && i == t.Alias:
			c.Rowid = place
		case i >= 0 && c.Places[i] < 0:
			c.Places[i] = place
		case i >= 0: // named twice: the first value counts
		case isRowid(name.Text) && !t.WithoutRowid:
			c.Rowid = place
		default:
			return fmt.Errorf("table %s has no column named %s", t.Name, name.Text)
		}
		given++
	}
	switch {
	case c.Query == nil || len(c.Query.Columns) == given:
		return nil
	case n.Columns == nil:
		return fmt.Errorf("table %s has %d columns but %d values were supplied", t.Name, given, len(c.Query.Columns))
	}
	return fmt.Errorf("%d values for %d columns", len(c.Query.Columns), given)
}

// upsert resolves an ON CONFLICT clause.
func (r *resolver) upsert(base *scope, table *Source, n *syntax.Insert, i int) (u Upsert, err error) {
	clause := &n.Upserts[i]
	b := r.block(base, table, &n.Table)
	if u.Any = clause.Target == nil; !u.Any {
		if u.Key, u.Indexes, err = r.conflictTarget(b, clause); err != nil {
			return u, err
		}
		if !u.Key && u.Indexes == nil {
			which := ""
			if len(n.Upserts) > 1 {
				which = ordinal(i+1) + " "
			}
			return u, fmt.Errorf("%sON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint", which)
		}
	}
	if clause.Update == nil {
		return u, nil
	}
	excluded := *table
	excluded.Name, excluded.Object, excluded.Core = "excluded", "excluded", &Core{}
	excluded.Core.Sources = []*Source{&excluded}
	excluded.Bare = true // as in SQLite
	outer := *base
	outer.core, outer.query = excluded.Core, &Query{}
	b.scope.parent = &outer
	if u.Set, err = r.set(b, clause.Update); err != nil {
		return u, err
	}
	u.Set.Excluded = &excluded
	if clause.Where != nil {
		e, err := r.condition(b.scope, clause.Where)
		if err != nil {
			return u, err
		}
		u.Set.Where = true
		b.scope.core.Results = append(b.scope.core.Results, e)
	}
	return u, nil
}

func (r *resolver) condition(s *scope, n *syntax.Expr) (*Expr, error) {
	s.clause = inWhere
	return r.scalar(s, n)
}

// conflictTarget finds the constraints that the target of an ON CONFLICT clause is.
func (r *resolver) conflictTarget(b *block, n *syntax.Upsert) (key bool, indexes []string, err error) {
	var terms []*Expr
	for i := range n.Target {
		e, err := r.scalar(b.scope, n.Target[i].Expr)
		if err != nil {
			return false, nil, err
		}
		if e.Kind != ColumnOf && (e.Kind != Collate || e.Args[0].Kind != ColumnOf) {
			return false, nil, unsupported("ON CONFLICT with an expression as its target")
		}
		terms = append(terms, e)
	}
	var where []*Expr
	if n.TargetWhere != nil {
		e, err := r.condition(b.scope, n.TargetWhere)
		if err != nil {
			return false, nil, err
		}
		where = Conjuncts(nil, e)
	}
	t := b.row.Table
	if !t.WithoutRowid && len(terms) == 1 && terms[0].Kind == ColumnOf && terms[0].Number == catalog.Rowid {
		return true, nil, nil
	}
	if t.WithoutRowid && names(b.row, terms, t.Primary.Terms) {
		key = true
	}
	for _, x := range t.Indexes {
		if x.Unique && names(b.row, terms, x.Terms[:x.Columns]) && sameConditions(PartialCondition(b.row, x.Where), where, x.Where != "") {
			indexes = append(indexes, x.Name)
		}
	}
	return key, indexes, nil
}

// names reports whether a target has the terms of a key, in any order. The column that is the rowid
// matches no term of an index, as in SQLite.
func names(row *Source, target []*Expr, key []catalog.Term) bool {
	if len(target) != len(key) {
		return false
	}
	for _, k := range key {
		found := false
		for _, e := range target {
			column := e
			if e.Kind == Collate {
				column = e.Args[0]
			}
			found = found || column.Number == k.Column && (e.Kind != Collate || e.Collation == k.Collation)
		}
		if !found {
			return false
		}
	}
	return true
}

func sameConditions(index, target []*Expr, partial bool) bool {
	if !partial {
		return true
	}
	if len(index) != len(target) {
		return false
	}
	for i := range index {
		if !Same(index[i], target[i]) {
			return false
		}
	}
	return len(index) > 0
}

// set resolves the assignments of an UPDATE.
func (r *resolver) set(b *block, list []syntax.Assignment) (*Set, error) {
	s := &Set{Row: b.row, Values: b.query}
	for i := range list {
		a := &list[i]
		values, err := r.assigned(b.scope, a)
		if err != nil {
			return nil, err
		}
		for k, name := range a.Columns {
			column, err := s.column(name.Text)
			if err != nil {
				return nil, err
			}
			s.add(column, values[k], b.query.Cores[0])
		}
	}
	return s, nil
}

// column returns the number of a column that can be set.
func (s *Set) column(name string) (int, error) {
	t := s.Row.Table
	i := s.Row.column(name)
	switch {
	case i >= 0 && t.Columns[i].Generated:
		return 0, fmt.Errorf("cannot UPDATE generated column \"%s\"", t.Columns[i].Name)
	case i >= 0 && i == t.Alias, i < 0 && isRowid(name) && !t.WithoutRowid:
		return catalog.Rowid, nil
	case i < 0:
		return 0, fmt.Errorf("no such column: %s", name)
	}
	return i, nil
}

// add adds an assignment. Of two to the same column, the last one counts.
func (s *Set) add(column int, e *Expr, core *Core) {
	for i, c := range s.Columns {
		if c == column {
			core.Results[len(core.Results)-len(s.Columns)+i] = e
			return
		}
	}
	s.Columns = append(s.Columns, column)
	core.Results = append(core.Results, e)
}

// assigned resolves the values of an assignment.
func (r *resolver) assigned(s *scope, a *syntax.Assignment) ([]*Expr, error) {
	s.clause = elsewhere
	if len(a.Columns) == 1 && !a.Row {
		return r.scalars(s, a.Value)
	}
	if a.Value.Op != syntax.OpSubquery {
		list := []*syntax.Expr{a.Value}
		if a.Value.Op == syntax.OpRow {
			list = a.Value.List
		}
		return r.scalars(s, list...)
	}
	values := make([]*Expr, len(a.Columns))
	for i := range values {
		around := &Query{Operators: make([]syntax.Compound, 1)}
		in := &scope{parent: s, query: around, with: s.with}
		q, err := r.query(in, a.Value.Query)
		if err != nil {
			return nil, err
		}
		if len(q.Columns) != len(a.Columns) {
			return nil, fmt.Errorf("%d columns assigned %d values", len(a.Columns), len(q.Columns))
		}
		core := &Core{}
		src := &Source{Core: core, Query: q, Columns: q.asSource()}
		core.Sources, core.Results = []*Source{src}, []*Expr{src.reference(i)}
		around.Cores, around.Columns = []*Core{core}, q.Columns[i:i+1]
		values[i] = &Expr{Kind: Scalar, Query: around, Affinity: q.Columns[i].Affinity, Collation: q.Columns[i].Collation}
	}
	return values, nil
}

// keys begins the query for the keys of the rows that an UPDATE or DELETE changes.
func (r *resolver) keys(c *Change, base *scope, n *syntax.Target, from []syntax.Source, where *syntax.Expr) (*scope, error) {
	q := &Query{Operators: make([]syntax.Compound, 1), Syntax: &syntax.Select{Cores: make([]syntax.Core, 1)}}
	s := *base
	s.core, s.query = &Core{}, q
	q.Cores = []*Core{s.core}
	first := syntax.Source{Name: n.QualifiedName, Alias: n.Alias, IndexedBy: n.IndexedBy, NotIndexed: n.NotIndexed}
	outside := s
	outside.with = nil // the target is no common table expression
	joins, err := r.sources(&outside, []syntax.Source{first})
	if err != nil {
		return nil, err
	}
	if len(from) > 0 {
		if from[0].Join == 0 {
			from = append([]syntax.Source(nil), from...)
			from[0].Join = syntax.JoinComma
		}
		more, err := r.sources(&s, from)
		if err != nil {
			return nil, err
		}
		joins = append(joins, more...)
		for i, src := range s.core.Sources {
			src.Index = i
		}
	}
	if err := r.joins(&s, joins); err != nil {
		return nil, err
	}
	if where != nil {
		e, err := r.condition(&s, where)
		if err != nil {
			return nil, err
		}
		s.core.Where = Conjuncts(s.core.Where, e)
	}
	row := s.core.Sources[0]
	s.core.Change = len(from) == 0
	if row.Table.WithoutRowid {
		for _, k := range row.Table.Primary.Terms {
			s.core.Results = append(s.core.Results, row.reference(k.Column))
		}
	} else {
		s.core.Results = []*Expr{row.reference(catalog.Rowid)}
	}
	c.Query, c.Keys = q, len(s.core.Results)
	return &s, nil
}

// Update resolves an UPDATE.
func Update(cat *catalog.Catalog, sql string, n *syntax.Update) (*Change, error) {
	r := &resolver{catalog: cat, sql: sql}
	table, err := r.target(&n.Table, syntax.TriggerUpdate)
	if err != nil {
		return nil, err
	}
	base, err := r.base(n.With)
	if err != nil {
		return nil, err
	}
	c := &Change{Table: table.Table, Or: n.Conflict, Rowid: -1}
	s, err := r.keys(c, base, &n.Table, n.From, n.Where)
	if err != nil {
		return nil, err
	}
	b := r.block(base, table, &n.Table)
	if len(n.From) > 0 {
		b = &block{s, c.Query, s.core.Sources[0]}
	}
	if c.Set, err = r.set(b, n.Set); err != nil {
		return nil, err
	}
	if len(n.From) > 0 {
		c.Set.Values = nil
	}
	c.Query.Columns = make([]Column, len(s.core.Results))
	return c, r.returning(c, base, table, &n.Table, n.Returning)
}

// Delete resolves a DELETE.
func Delete(cat *catalog.Catalog, sql string, n *syntax.Delete) (*Change, error) {
	r := &resolver{catalog: cat, sql: sql}
	table, err := r.target(&n.Table, syntax.TriggerDelete)
	if err != nil {
		return nil, err
	}
	base, err := r.base(n.With)
	if err != nil {
		return nil, err
	}
	c := &Change{Table: table.Table, Rowid: -1}
	s, err := r.keys(c, base, &n.Table, nil, n.Where)
	if err != nil {
		return nil, err
	}
	c.Query.Columns = make([]Column, len(s.core.Results))
	return c, r.returning(c, base, table, &n.Table, n.Returning)
}
