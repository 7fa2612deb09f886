package bind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/program"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

// A resolver resolves one statement.
type resolver struct {
	catalog *catalog.Catalog
	queries int // so far
	views   []string
	sql     string // of the statement or view that is resolved
	with    bool   // it has WITH
}

var operations = map[syntax.Op]program.Op{
	syntax.OpAdd: program.Add, syntax.OpSubtract: program.Subtract, syntax.OpMultiply: program.Multiply,
	syntax.OpDivide: program.Divide, syntax.OpRemainder: program.Remainder, syntax.OpBitAnd: program.BitAnd,
	syntax.OpBitOr: program.BitOr, syntax.OpShiftLeft: program.ShiftLeft, syntax.OpShiftRight: program.ShiftRight,
	syntax.OpConcat: program.Concat,
	syntax.OpNot:    program.Not, syntax.OpMinus: program.Negate, syntax.OpBitNot: program.Complement,
	syntax.OpIsNull: program.IsNull, syntax.OpNotNull: program.NotNull,
	syntax.OpEqual: program.Equal, syntax.OpNotEqual: program.NotEqual, syntax.OpLess: program.Less,
	syntax.OpLessEqual: program.LessEqual, syntax.OpGreater: program.Greater, syntax.OpGreaterEqual: program.GreaterEqual,
	syntax.OpIs: program.Is, syntax.OpIsNot: program.IsNot,
}

func literal(v record.Value) *Expr {
	return &Expr{Kind: Literal, Value: v, Affinity: value.NoAffinity}
}

// build returns an expression without an affinity. Its collation is that of the first argument with
// a COLLATE operator.
func build(kind Kind, op program.Op, args ...*Expr) *Expr {
	e := &Expr{Kind: kind, Op: op, Args: args, Affinity: value.NoAffinity}
	e.inherit(args...)
	return e
}

func (e *Expr) inherit(args ...*Expr) {
	for _, a := range args {
		if a != nil && a.Explicit && !e.Explicit {
			e.Collation, e.Explicit = a.Collation, true
		}
	}
}

func (r *resolver) expr(s *scope, n *syntax.Expr) (*Expr, error) {
	switch n.Op {
	case syntax.OpNull:
		return literal(record.Value{}), nil
	case syntax.OpInteger, syntax.OpFloat:
		return number(n, false)
	case syntax.OpString:
		return literal(record.OfText([]byte(n.Text))), nil
	case syntax.OpBlob:
		return literal(record.OfBlob(n.Bytes())), nil
	case syntax.OpParameter:
		return &Expr{Kind: Parameter, Number: int(n.Number), Affinity: value.NoAffinity}, nil
	case syntax.OpColumn, syntax.OpTruth:
		return r.name(s, n)
	case syntax.OpCollate:
		return r.collate(s, n)
	case syntax.OpPlus:
		return r.unary(s, n, Plus)
	case syntax.OpMinus:
		inner := n.Left
		for inner.Op == syntax.OpPlus {
			inner = inner.Left
		}
		if inner.Op == syntax.OpInteger || inner.Op == syntax.OpFloat {
			return number(inner, true)
		}
		return r.unary(s, n, Unary)
	case syntax.OpNot, syntax.OpBitNot, syntax.OpIsNull, syntax.OpNotNull:
		return r.unary(s, n, Unary)
	case syntax.OpAnd, syntax.OpOr:
		return r.logic(s, n)
	case syntax.OpEqual, syntax.OpNotEqual, syntax.OpLess, syntax.OpLessEqual, syntax.OpGreater, syntax.OpGreaterEqual, syntax.OpIs, syntax.OpIsNot:
		return r.comparison(s, n)
	case syntax.OpFunction:
		return r.call(s, n)
	case syntax.OpCase:
		return r.caseOf(s, n)
	case syntax.OpCast:
		return r.cast(s, n)
	case syntax.OpMatch:
		return r.match(s, n)
	case syntax.OpBetween:
		return r.between(s, n)
	}
	if _, ok := operations[n.Op]; ok {
		args, err := r.scalars(s, n.Left, n.Right)
		if err != nil {
			return nil, err
		}
		return build(Binary, operations[n.Op], args...), nil
	}
	return r.other(s, n)
}

func (r *resolver) other(s *scope, n *syntax.Expr) (*Expr, error) {
	switch n.Op {
	case syntax.OpRow:
		args, err := r.scalars(s, n.List...)
		return &Expr{Kind: Row, Args: args}, err
	case syntax.OpSubquery, syntax.OpExists:
		return r.subquery(s, n)
	case syntax.OpIn, syntax.OpInTable:
		return r.in(s, n)
	case syntax.OpRaise:
		return nil, fmt.Errorf("RAISE() may only be used within a trigger-program")
	case syntax.OpNow:
		return nil, unsupported("%s", n.Text)
	case syntax.OpArrow, syntax.OpLongArrow:
		return nil, unsupported("JSON")
	}
	return nil, fmt.Errorf("row value misused")
}

// scalar resolves an expression that must not be a row.
func (r *resolver) scalar(s *scope, n *syntax.Expr) (*Expr, error) {
	e, err := r.expr(s, n)
	if err == nil && e.Kind == Row {
		return nil, fmt.Errorf("row value misused")
	}
	return e, err
}

func (r *resolver) scalars(s *scope, nodes ...*syntax.Expr) ([]*Expr, error) {
	args := make([]*Expr, len(nodes))
	for i, n := range nodes {
		var err error
		if args[i], err = r.scalar(s, n); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// number is a number, or one with a minus before it: only so is -9223372036854775808 an integer.
func number(n *syntax.Expr, negative bool) (*Expr, error) {
	sign := ""
	if negative {
		sign = "-"
	}
	if len(n.Text) > 2 && n.Text[1]|0x20 == 'x' {
		if n.Oversized || negative && n.Int() == -1<<63 {
			return nil, fmt.Errorf("hex literal too big: %s%s", sign, n.Text)
		}
		if negative {
			return literal(record.OfInt(-n.Int())), nil
		}
		return literal(record.OfInt(n.Int())), nil
	}
	text := []byte(sign + n.Text)
	if i, how := value.ReadInteger(text); how == value.IntegerWhole {
		return literal(record.OfInt(i)), nil
	}
	return literal(record.OfFloat(value.ReadFloat(text).Value)), nil
}

// name is a column, TRUE, FALSE, or a string in double quotes.
func (r *resolver) name(s *scope, n *syntax.Expr) (*Expr, error) {
	if n.Op == syntax.OpColumn {
		if e, err := s.lookup(n.Path, n.Text); e != nil || err != nil {
			return e, err
		}
	}
	if truth, ok := n.Truth(); ok {
		return literal(value.OfBool(truth)), nil
	}
	if n.Quote == '"' && len(n.Path) == 0 {
		return literal(record.OfText([]byte(n.Text))), nil
	}
	return nil, fmt.Errorf("no such column: %s", qualified(n.Path, n.Text))
}

func (r *resolver) collate(s *scope, n *syntax.Expr) (*Expr, error) {
	x, err := r.expr(s, n.Left)
	if err != nil {
		return nil, err
	}
	order, ok := value.CollationOf(n.Text)
	if !ok {
		return nil, fmt.Errorf("no such collation sequence: %s", n.Text)
	}
	return &Expr{Kind: Collate, Args: []*Expr{x}, Affinity: x.Affinity, Collation: order, Explicit: true}, nil
}

func (r *resolver) unary(s *scope, n *syntax.Expr, kind Kind) (*Expr, error) {
	x, err := r.scalar(s, n.Left)
	if err != nil {
		return nil, err
	}
	e := build(kind, operations[n.Op], x)
	if kind == Plus {
		e.Collation = x.Collation
	}
	return e, nil
}

func (r *resolver) logic(s *scope, n *syntax.Expr) (*Expr, error) {
	if n.Op == syntax.OpAnd && isFalse(n) {
		return literal(record.OfInt(0)), nil
	}
	args, err := r.scalars(s, n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	kind := And
	if n.Op == syntax.OpOr {
		kind = Or
	}
	return build(kind, 0, args...), nil
}

// isFalse reports whether an AND has a side that is the literal 0 and no side with a function. Then
// SQLite replaces it by 0 before it resolves names: the other side may be nonsense.
func isFalse(n *syntax.Expr) bool {
	if at, ok := position(n); !ok || at != 0 {
		return false
	}
	calls := false
	syntax.Walk(n, func(n syntax.Node) bool {
		if e, ok := n.(*syntax.Expr); ok {
			calls = calls || e.Op == syntax.OpFunction
			return true
		}
		return false // a function of a subquery does not count
	})
	return !calls
}

func (r *resolver) comparison(s *scope, n *syntax.Expr) (*Expr, error) {
	if n.Op == syntax.OpIs || n.Op == syntax.OpIsNot {
		right := n.Right
		for right.Op == syntax.OpCollate {
			right = right.Left
		}
		if truth, ok := right.Truth(); ok {
			if right.Op == syntax.OpTruth {
				return r.truth(s, n, truth)
			}
			if e, err := s.lookup(nil, right.Text); e == nil && err == nil {
				return r.truth(s, n, truth)
			}
		}
	}
	sides, rows, err := r.operands(s, n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	if rows {
		return compareRows(operations[n.Op], sides[0], sides[1])
	}
	return build(Compare, operations[n.Op], sides...), nil
}

// operand is one side of a comparison, which may be a row, or a subquery that returns one.
func (r *resolver) operand(s *scope, n *syntax.Expr) (*Expr, error) {
	if n.Op != syntax.OpSubquery {
		return r.expr(s, n)
	}
	q, err := r.query(s, n.Query)
	if err != nil {
		return nil, err
	}
	if len(q.Columns) == 1 {
		return q.scalar(), nil
	}
	row := &Expr{Kind: Row}
	for i := range q.Columns {
		last := q.Last(i)
		row.Args = append(row.Args, &Expr{Kind: Scalar, Query: q, Number: i, Affinity: last.Affinity, Collation: last.Collation, Explicit: last.Explicit})
	}
	return row, nil
}

func (q *Query) scalar() *Expr { return &Expr{Kind: Scalar, Query: q, Affinity: q.Last(0).Affinity} }

func (r *resolver) operands(s *scope, nodes ...*syntax.Expr) (list []*Expr, rows bool, err error) {
	for _, n := range nodes {
		e, err := r.operand(s, n)
		if err != nil {
			return nil, false, err
		}
		list, rows = append(list, e), rows || e.Kind == Row
	}
	return list, rows, nil
}

// truth is IS [NOT] TRUE or FALSE.
func (r *resolver) truth(s *scope, n *syntax.Expr, truth bool) (*Expr, error) {
	x, err := r.scalar(s, n.Left)
	if err != nil {
		return nil, err
	}
	is := n.Op == syntax.OpIs
	op := program.IsNotFalse
	switch {
	case truth && is:
		op = program.IsTrue
	case truth:
		op = program.IsNotTrue
	case is:
		op = program.IsFalse
	}
	return build(Unary, op, x), nil
}

// compareRows compares rows of values by comparisons of these.
func compareRows(op program.Op, x, y *Expr) (*Expr, error) {
	if x.Kind != Row || y.Kind != Row || len(x.Args) != len(y.Args) {
		return nil, fmt.Errorf("row value misused")
	}
	last := len(x.Args) - 1
	e := build(Compare, op, x.Args[last], y.Args[last])
	for i := last - 1; i >= 0; i-- {
		a, b := x.Args[i], y.Args[i]
		switch op {
		case program.Equal, program.Is:
			e = build(And, 0, build(Compare, op, a, b), e)
		case program.NotEqual, program.IsNot:
			e = build(Or, 0, build(Compare, op, a, b), e)
		default:
			strict := program.Less
			if op == program.Greater || op == program.GreaterEqual {
				strict = program.Greater
			}
			e = build(Or, 0, build(Compare, strict, a, b), build(And, 0, build(Compare, program.Equal, a, b), e))
		}
	}
	return e, nil
}

func (r *resolver) between(s *scope, n *syntax.Expr) (*Expr, error) {
	args, rows, err := r.operands(s, n.Left, n.List[0], n.List[1])
	if err != nil {
		return nil, err
	}
	if rows {
		low, err := compareRows(program.GreaterEqual, args[0], args[1])
		if err != nil {
			return nil, err
		}
		high, err := compareRows(program.LessEqual, args[0], args[2])
		if err != nil {
			return nil, err
		}
		return negated(build(And, 0, low, high), n.Not), nil
	}
	e := build(Between, 0, args...)
	e.Not = n.Not
	return e, nil
}

func (r *resolver) cast(s *scope, n *syntax.Expr) (*Expr, error) {
	x, err := r.scalar(s, n.Left)
	if err != nil {
		return nil, err
	}
	return &Expr{Kind: Cast, Args: []*Expr{x}, Affinity: ddl.AffinityOf(n.Text), Collation: x.Collation, Explicit: x.Explicit}, nil
}

func (r *resolver) match(s *scope, n *syntax.Expr) (*Expr, error) {
	name := strings.ToUpper(n.Text)
	switch name {
	case "REGEXP":
		return nil, fmt.Errorf("no such function: REGEXP")
	case "MATCH":
		return nil, fmt.Errorf("unable to use function MATCH in the requested context")
	}
	args, err := r.scalars(s, append([]*syntax.Expr{n.Right, n.Left}, n.List...)...)
	if err != nil {
		return nil, err
	}
	if name == "GLOB" && len(args) == 3 {
		return nil, fmt.Errorf("wrong number of arguments to function GLOB()")
	}
	e := build(Match, 0, args...)
	e.Name, e.Not = name, n.Not
	return e, nil
}

func (r *resolver) caseOf(s *scope, n *syntax.Expr) (*Expr, error) {
	var base *Expr
	var err error
	if n.Left != nil {
		if base, err = r.operand(s, n.Left); err != nil {
			return nil, err
		}
	}
	var args []*Expr
	if base != nil && base.Kind == Row {
		args, err = r.casesOfRow(s, base, n.List)
		base = nil
	} else {
		args, err = r.scalars(s, n.List...)
	}
	if err != nil {
		return nil, err
	}
	otherwise := literal(record.Value{})
	if n.Right != nil {
		if otherwise, err = r.scalar(s, n.Right); err != nil {
			return nil, err
		}
	}
	e := build(Case, 0, append(args, otherwise)...)
	e.Base = base
	if base != nil && base.Explicit {
		e.Collation, e.Explicit = base.Collation, true
	}
	return e, nil
}

// casesOfRow returns the conditions and results of CASE row WHEN, with comparisons of rows.
func (r *resolver) casesOfRow(s *scope, base *Expr, list []*syntax.Expr) (args []*Expr, err error) {
	for i, n := range list {
		var e *Expr
		if i%2 == 1 {
			e, err = r.scalar(s, n)
		} else if e, err = r.operand(s, n); err == nil {
			e, err = compareRows(program.Equal, base, e)
		}
		if err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	return args, nil
}

func negated(e *Expr, not bool) *Expr {
	if not {
		return build(Unary, program.Not, e)
	}
	return e
}

// in is x [NOT] IN a list, a query or a table.
func (r *resolver) in(s *scope, n *syntax.Expr) (*Expr, error) {
	if n.Op == syntax.OpInTable || n.Query != nil {
		x, err := r.operand(s, n.Left)
		if err != nil {
			return nil, err
		}
		return r.inQuery(s, n, x)
	}
	x, err := r.expr(s, n.Left)
	if err != nil {
		return nil, err
	}
	if x.Kind == Row {
		return r.rowIn(s, n, x)
	}
	list, err := r.scalars(s, n.List...)
	if err != nil {
		return nil, err
	}
	if n.Constant { // which SQLite makes x = +value of
		plus := build(Plus, 0, list[0])
		plus.Collation = list[0].Collation
		return negated(build(Compare, program.Equal, x, plus), n.Not), nil
	}
	e := build(InList, 0, append([]*Expr{x}, list...)...)
	e.Not = n.Not
	return e, nil
}

// rowIn is (x, y) IN a list of rows, which SQLite makes a query of.
func (r *resolver) rowIn(s *scope, n *syntax.Expr, x *Expr) (*Expr, error) {
	if len(n.List) == 0 {
		return literal(value.OfBool(n.Not)), nil
	}
	list := *n
	list.Query = &syntax.Select{}
	for _, e := range n.List {
		row := []*syntax.Expr{e}
		if e.Op == syntax.OpRow {
			row = e.List
		}
		if len(row) != len(x.Args) {
			terms := "terms"
			if len(row) == 1 {
				terms = "term"
			}
			return nil, fmt.Errorf("IN(...) element has %d %s - expected %d", len(row), terms, len(x.Args))
		}
		list.Query.Cores = append(list.Query.Cores, syntax.Core{Values: [][]*syntax.Expr{row}, Compound: syntax.UnionAll})
	}
	e, err := r.inQuery(s, &list, x)
	if err != nil {
		return nil, err
	}
	all := &Core{}
	for _, c := range e.Query.Cores {
		all.Values = append(all.Values, c.Values...)
	}
	e.Query.Cores, e.Query.Operators = []*Core{all}, e.Query.Operators[:1]
	return e, nil
}

func (r *resolver) inQuery(s *scope, n *syntax.Expr, x *Expr) (*Expr, error) {
	query := n.Query
	if n.Op == syntax.OpInTable {
		if n.Call != nil {
			return nil, unsupported("IN with a table-valued function")
		}
		source := syntax.Source{Name: syntax.QualifiedName{Name: syntax.Name{Text: n.Text}}}
		if len(n.Path) > 0 {
			source.Name.Schema = n.Path[0]
		}
		query = &syntax.Select{Cores: []syntax.Core{{Columns: []syntax.Column{{Expr: &syntax.Expr{Op: syntax.OpStar}}}, From: []syntax.Source{source}}}}
	}
	q, err := r.query(s, query)
	if err != nil {
		return nil, err
	}
	args := []*Expr{x}
	if x.Kind == Row {
		args = x.Args
	}
	if len(args) != len(q.Columns) {
		return nil, fmt.Errorf("sub-select returns %d columns - expected %d", len(q.Columns), len(args))
	}
	e := build(InQuery, 0, args...)
	e.Query, e.Not = q, n.Not
	return e, nil
}

// subquery is (SELECT ...) or EXISTS.
func (r *resolver) subquery(s *scope, n *syntax.Expr) (*Expr, error) {
	q, err := r.query(s, n.Query)
	if err != nil {
		return nil, err
	}
	if n.Op == syntax.OpExists {
		q.OrderBy = nil
		if !slices.ContainsFunc(q.Operators[1:], func(o syntax.Compound) bool { return o != syntax.UnionAll }) {
			for _, c := range q.Cores { // as SQLite does, although OFFSET sees the difference
				c.Distinct = false
			}
		}
		return &Expr{Kind: Exists, Query: q, Affinity: value.NoAffinity, Not: n.Not}, nil
	}
	if len(q.Columns) != 1 {
		return nil, fmt.Errorf("sub-select returns %d columns - expected 1", len(q.Columns))
	}
	return q.scalar(), nil
}

// Last returns the expression of a column in the last core, which SQLite asks for affinities.
func (q *Query) Last(i int) *Expr {
	c := q.Cores[len(q.Cores)-1]
	if c.Values != nil {
		return c.Values[len(c.Values)-1][i]
	}
	return c.Results[i]
}
