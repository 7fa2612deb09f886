package exec

import (
	"errors"
	"slices"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/function"
	"github.com/foliofs/folio/internal/sql/program"
	"github.com/foliofs/folio/internal/sql/value"
)

// A compiler makes the parts of a statement.
type compiler struct {
	m          *machine
	numbers    map[ref]int
	sources    map[*bind.Source]*source
	results    map[*bind.Core]*source // of aggregates
	query      func(q *bind.Query) (rows, error)
	needed     map[*bind.Source]map[int]bool    // columns that the statement reads
	wanted     map[*bind.Core][]bind.Order      // the order in which the rows of a core should come
	ordered    map[*bind.Core]bool              // that they do
	together   map[*bind.Core]bool              // that equal ones come together
	keysOf     map[*bind.Core][]*bind.Expr      // of ORDER BY, that are no results
	rows       map[*bind.Source]*[]record.Value // of recursive queries
	common     map[*bind.Common]bool            // shown in the outline
	stored     map[*bind.Common]*storedRow      // the rows of a common table expression that several sources read
	planned    map[*bind.Core][]*step           // the loops of each core
	coreRows   map[*bind.Core]logEst            // an estimate
	estimates  map[*bind.Query]logEst           // the same
	rowQueries map[*bind.Query]*subquery        // with several columns
	outline    *outline                         // nil unless the statement is EXPLAIN QUERY PLAN
}

// evaluator compiles an expression.
func (c *compiler) evaluator(e *bind.Expr) (evaluator, error) {
	if e.Kind == bind.ColumnOf {
		return evaluator{source: c.sources[e.Source], column: e.Number}, nil
	}
	x := expression{c: c}
	r, err := x.compile(e)
	if err != nil {
		return evaluator{}, err
	}
	p, err := x.b.Program(r)
	if err != nil {
		return evaluator{}, err
	}
	return evaluator{program: p, registers: p.Registers(), simple: c.simple(e)}, nil
}

// simple returns the condition on a column that an expression is, or nil: a comparison with an
// integer, or LIKE or GLOB with a constant pattern.
func (c *compiler) simple(e *bind.Expr) *comparison {
	if e.Kind == bind.Match && e.Args[1].Kind == bind.ColumnOf {
		if like := fixedPattern(e); like != nil {
			return &comparison{source: c.sources[e.Args[1].Source], column: e.Args[1].Number, like: like, not: e.Not}
		}
	}
	if e.Kind != bind.Compare || e.Op < program.Equal || e.Op > program.GreaterEqual || e.Args[0].Kind != bind.ColumnOf ||
		e.Args[1].Kind != bind.Literal || e.Args[1].Value.Kind() != record.Integer || value.Comparison(e.Args[0].Affinity, e.Args[1].Affinity) == affinityText {
		return nil
	}
	return &comparison{
		source: c.sources[e.Args[0].Source], column: e.Args[0].Number, integer: e.Args[1].Value.Int(),
		less:    e.Op == program.Less || e.Op == program.LessEqual || e.Op == program.NotEqual,
		equal:   e.Op == program.Equal || e.Op == program.LessEqual || e.Op == program.GreaterEqual,
		greater: e.Op == program.Greater || e.Op == program.GreaterEqual || e.Op == program.NotEqual,
	}
}

func (c *compiler) evaluators(list []*bind.Expr) ([]evaluator, error) {
	out := make([]evaluator, len(list))
	for i, e := range list {
		var err error
		if out[i], err = c.evaluator(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// number returns the number by which programs read a ref.
func (c *compiler) number(r ref) int {
	n, ok := c.numbers[r]
	if !ok {
		n = len(c.m.refs)
		c.numbers[r] = n
		c.m.refs = append(c.m.refs, r)
	}
	return n
}

// An expression compiles one expression. Its registers are a stack: the value of an expression is a
// constant, or in the register that was the next one when its compilation began.
type expression struct {
	c *compiler
	b program.Builder
}

// free gives back all registers from mark on, and takes the first of them.
func (x *expression) free(mark program.Reg) program.Reg {
	x.b.Release(mark)
	return x.b.Alloc()
}

func (x *expression) compile(e *bind.Expr) (program.Reg, error) {
	switch e.Kind {
	case bind.Literal:
		return x.b.Constant(e.Value), nil
	case bind.Parameter:
		return x.b.Column(x.c.number(ref{nil, e.Number - 1})), nil
	case bind.ColumnOf:
		return x.b.Column(x.c.number(ref{x.c.sources[e.Source], e.Number})), nil
	case bind.Result:
		return x.b.Column(x.c.number(ref{x.c.results[e.Core], e.Number})), nil
	case bind.Collate, bind.Plus:
		return x.compile(e.Args[0])
	case bind.IfRow:
		return x.ifRow(e)
	case bind.Unary, bind.Cast:
		mark := x.b.Mark()
		a, err := x.compile(e.Args[0])
		d, op := x.free(mark), e.Op
		if e.Kind == bind.Cast {
			op = program.Cast
		}
		x.b.Unary(op, d, a, e.Affinity)
		return d, err
	case bind.Binary, bind.Compare:
		return x.binary(e)
	case bind.And, bind.Or:
		return x.logic(e)
	case bind.Between:
		return x.between(e)
	case bind.InList:
		return x.in(e)
	case bind.Case:
		return x.caseOf(e)
	case bind.Call:
		return x.call(e)
	case bind.Match:
		return x.match(e)
	case bind.InQuery, bind.Exists, bind.Scalar:
		return x.subquery(e)
	}
	return 0, errors.New("row value misused")
}

// ifRow is an expression that is NULL if a source is on its row of NULLs.
func (x *expression) ifRow(e *bind.Expr) (program.Reg, error) {
	d := x.b.Alloc()
	null := x.b.JumpTrue(x.b.Column(x.c.number(ref{x.c.sources[e.Source], e.Number})))
	x.b.Release(d + 1)
	r, err := x.compile(e.Args[0])
	x.b.Move(d, r)
	end := x.b.Jump()
	x.b.Land(null)
	x.b.Move(d, x.b.Constant(record.Value{}))
	x.b.Land(end)
	x.b.Release(d + 1)
	return d, err
}

func (x *expression) binary(e *bind.Expr) (program.Reg, error) {
	mark := x.b.Mark()
	a, err := x.compile(e.Args[0])
	if err != nil {
		return a, err
	}
	b, err := x.compile(e.Args[1])
	d := x.free(mark)
	if e.Kind == bind.Compare {
		x.compare(e.Op, d, a, b, e.Args[0], e.Args[1])
	} else {
		x.b.Binary(e.Op, d, a, b)
	}
	return d, err
}

// compare writes the result of a comparison to d.
func (x *expression) compare(op program.Op, d, a, b program.Reg, left, right *bind.Expr) {
	x.b.Compare(op, d, a, b, value.Comparison(left.Affinity, right.Affinity), bind.Compared(left, right))
}

// logic is AND or OR. It does not evaluate the right operand if the left one decides.
func (x *expression) logic(e *bind.Expr) (program.Reg, error) {
	mark := x.b.Mark()
	a, err := x.compile(e.Args[0])
	if err != nil {
		return a, err
	}
	op, decided, jump := program.And, x.b.Constant(record.OfInt(0)), x.b.JumpFalse
	if e.Kind == bind.Or {
		op, decided, jump = program.Or, x.b.Constant(record.OfInt(1)), x.b.JumpTrue
	}
	short := jump(a)
	b, err := x.compile(e.Args[1])
	d := x.free(mark)
	x.b.Binary(op, d, a, b)
	end := x.b.Jump()
	x.b.Land(short)
	x.b.Move(d, decided)
	x.b.Land(end)
	return d, err
}

// negated puts NOT before the value in a register.
func (x *expression) negated(d program.Reg, yes bool) program.Reg {
	if yes {
		x.b.Unary(program.Not, d, d, value.NoAffinity)
	}
	return d
}

// between is x >= low AND x <= high.
func (x *expression) between(e *bind.Expr) (program.Reg, error) {
	mark := x.b.Mark()
	v, err := x.compile(e.Args[0])
	if err != nil {
		return v, err
	}
	top := x.b.Mark()
	low, err := x.compile(e.Args[1])
	if err != nil {
		return low, err
	}
	above := x.free(top)
	x.compare(program.GreaterEqual, above, v, low, e.Args[0], e.Args[1])
	short := x.b.JumpFalse(above)
	top = x.b.Mark()
	high, err := x.compile(e.Args[2])
	below := x.free(top)
	x.compare(program.LessEqual, below, v, high, e.Args[0], e.Args[2])
	x.b.Binary(program.And, above, above, below)
	x.b.Land(short)
	d := x.free(mark)
	x.b.Move(d, above)
	return x.negated(d, e.Not), err
}

// fewValues is how many constants are compared one by one.
const fewValues = 8

// constantSet returns the function that looks for a value in the constants of an IN.
func constantSet(e *bind.Expr) program.Func {
	affinity := e.Args[0].Affinity
	if affinity == catalog.Real { // which would round integers
		affinity = catalog.Numeric
	}
	s := &subquery{known: true, columns: []column{{affinity, e.Args[0].Collation}}}
	for _, item := range e.Args[1:] {
		s.put(item.Value)
	}
	return s.in
}

// in is x IN (list). The values of the list get the affinity of x and are compared by its
// collation.
func (x *expression) in(e *bind.Expr) (program.Reg, error) {
	if len(e.Args) > fewValues && !slices.ContainsFunc(e.Args[1:], func(e *bind.Expr) bool { return e.Kind != bind.Literal }) {
		d, err := x.calling(e.Args[:1], constantSet(e))
		return x.negated(d, e.Not), err
	}
	mark := x.b.Mark()
	left := e.Args[0]
	v, err := x.compile(left)
	if err != nil {
		return v, err
	}
	found := x.b.Alloc()
	x.b.Move(found, x.b.Constant(record.OfInt(0)))
	top := x.b.Mark()
	var jumps []program.Jump
	for _, item := range e.Args[1:] {
		y, err := x.compile(item)
		if err != nil {
			return y, err
		}
		jumps = append(jumps, x.b.In(found, v, y, left.Affinity, left.Collation))
		x.b.Release(top)
	}
	x.b.Land(jumps...)
	d := x.free(mark)
	x.b.Move(d, found)
	return x.negated(d, e.Not), nil
}

// caseOf is CASE.
func (x *expression) caseOf(e *bind.Expr) (program.Reg, error) {
	d := x.b.Alloc()
	if e.Base == nil {
		return d, x.cases(d, e.Args, nil)
	}
	base, err := x.compile(e.Base)
	if err != nil {
		return d, err
	}
	return d, x.cases(d, e.Args, func(when program.Reg, n *bind.Expr) program.Reg {
		r := x.b.Alloc()
		x.compare(program.Equal, r, base, when, e.Base, n)
		return r
	})
}

// cases writes the value of the first case whose condition is true to d.
func (x *expression) cases(d program.Reg, args []*bind.Expr, condition func(when program.Reg, n *bind.Expr) program.Reg) error {
	top := x.b.Mark()
	var ends []program.Jump
	for ; len(args) > 1; args = args[2:] {
		when, err := x.compile(args[0])
		if err != nil {
			return err
		}
		if condition != nil {
			when = condition(when, args[0])
		}
		next := x.b.JumpNotTrue(when)
		x.b.Release(top)
		then, err := x.compile(args[1])
		if err != nil {
			return err
		}
		x.b.Move(d, then)
		x.b.Release(top)
		ends = append(ends, x.b.Jump())
		x.b.Land(next)
	}
	otherwise := x.b.Constant(record.Value{})
	if len(args) == 1 {
		var err error
		if otherwise, err = x.compile(args[0]); err != nil {
			return err
		}
	}
	x.b.Move(d, otherwise)
	x.b.Land(ends...)
	x.b.Release(d + 1)
	return nil
}

// args evaluates arguments into registers that follow each other.
func (x *expression) args(list []*bind.Expr) (first program.Reg, err error) {
	first = x.b.Mark()
	for _, e := range list {
		mark := x.b.Mark()
		r, err := x.compile(e)
		if err != nil {
			return 0, err
		}
		x.b.Move(x.free(mark), r)
	}
	return first, nil
}

// calling is a function of values.
func (x *expression) calling(list []*bind.Expr, fn program.Func) (program.Reg, error) {
	mark := x.b.Mark()
	first, err := x.args(list)
	d := x.free(mark)
	x.b.Call(fn, d, first, len(list))
	return d, err
}

func (x *expression) call(e *bind.Expr) (program.Reg, error) {
	switch e.Name {
	case "coalesce", "ifnull":
		d := x.b.Alloc()
		var found []program.Jump
		for _, a := range e.Args {
			r, err := x.compile(a)
			if err != nil {
				return d, err
			}
			x.b.Move(d, r)
			x.b.Release(d + 1)
			found = append(found, x.b.JumpNotNull(d))
		}
		x.b.Land(found...)
		return d, nil
	case "iif", "if":
		d := x.b.Alloc()
		return d, x.cases(d, e.Args, nil)
	case "likely", "unlikely":
		return x.compile(e.Args[0])
	case "nullif":
		return x.calling(e.Args, function.Nullif(collationOf(e.Args)))
	case "min":
		return x.calling(e.Args, function.Min(collationOf(e.Args)))
	case "random":
		return x.calling(e.Args, random)
	case "randomblob":
		return x.calling(e.Args, randomBlob)
	case "max":
		return x.calling(e.Args, function.Max(collationOf(e.Args)))
	}
	f, ok := function.Find(e.Name)
	if !ok {
		return 0, &bind.UnsupportedError{What: "the function " + e.Name}
	}
	return x.calling(e.Args, f.Call)
}

// collationOf returns the collation of the first argument that has one.
func collationOf(args []*bind.Expr) value.Collation {
	for _, a := range args {
		if a.Collation != value.NoCollation {
			return a.Collation
		}
	}
	return value.NoCollation
}

var errEscape = errors.New("ESCAPE expression must be a single character")

// fixedPattern returns the function that matches texts with the constant pattern of LIKE or GLOB,
// or nil.
func fixedPattern(e *bind.Expr) func(text []byte) bool {
	if len(e.Args) != 2 || e.Args[0].Kind != bind.Literal || e.Args[0].Value.Kind() != record.Text || len(e.Args[0].Value.Bytes()) > function.MaxPattern {
		return nil
	}
	p := function.Like()
	if e.Name == "GLOB" {
		p = function.Glob()
	}
	return p.Compile(e.Args[0].Value.Bytes())
}

// match is LIKE or GLOB: its arguments are the pattern, the text, and perhaps the escape.
func (x *expression) match(e *bind.Expr) (program.Reg, error) {
	p := function.Like()
	if e.Name == "GLOB" {
		p = function.Glob()
	}
	if fixed := fixedPattern(e); fixed != nil {
		d, err := x.calling(e.Args[1:2], func(v []record.Value) (record.Value, error) {
			if v[0].Kind() == record.Null {
				return v[0], nil
			}
			return value.OfBool(fixed(value.Text(v[0]))), nil
		})
		return x.negated(d, e.Not), err
	}
	d, err := x.calling(e.Args, func(v []record.Value) (record.Value, error) {
		p := p
		if len(v) == 3 {
			if v[2].Kind() == record.Null {
				return record.Value{}, nil
			}
			if !p.SetEscape(value.Text(v[2])) {
				return record.Value{}, errEscape
			}
		}
		return p.Match(v[0], v[1])
	})
	return x.negated(d, e.Not), err
}
