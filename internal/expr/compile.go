package expr

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/program"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

// A Place is the place of an expression in the schema. It decides to which columns and functions
// the expression may refer.
type Place uint8

// The places of expressions in a schema.
const (
	Check     Place = iota // a CHECK constraint
	Where                  // of a partial index
	Term                   // of an index
	Generated              // a generated column
)

// Rowid is the number under which a Row gives its rowid.
const Rowid = -1

// A Row gives an expression the values of its columns, with the affinities of the columns applied;
// an integer in a REAL column is a float. It is asked for Rowid, too.
type Row = program.Row

// An Expr is an expression that was compiled for the rows of one table. It is immutable and safe
// for concurrent use.
type Expr struct {
	program  *program.Program
	affinity value.Affinity
	columns  []int
}

// Columns returns the columns that the expression reads, in ascending order: Rowid is one, and
// generated columns are.
func (x *Expr) Columns() []int { return x.columns }

// Eval returns the value of the expression for a row. Its error is that of the Row, or an error of
// SQLite's own, such as an integer overflow in abs.
func (x *Expr) Eval(row Row) (record.Value, error) { return x.program.Eval(row) }

// Affinity returns the affinity that an index gives the value of the expression before it stores
// that.
func (x *Expr) Affinity() value.Affinity {
	switch {
	case x.affinity == value.NoAffinity:
		return value.AffinityBlob
	case x.affinity.Numeric():
		return value.AffinityNumeric
	}
	return x.affinity
}

// A term is a part of an expression, whose value is in a register.
type term struct {
	reg       program.Reg
	affinity  value.Affinity
	collation value.Collation // of the term itself
	explicit  bool            // a COLLATE operator is somewhere in it
}

// Compile compiles an expression that stands in the schema of a table. The error names the part
// that cannot be evaluated exactly as SQLite does; the expression itself is not in it.
func Compile(text string, t *ddl.Table, place Place) (*Expr, error) {
	n, wrong := syntax.ParseExpr(text)
	if wrong != nil {
		return nil, wrong
	}
	c := &compiler{table: t, place: place}
	x, err := c.compile(n)
	if err != nil {
		return nil, err
	}
	p, err := c.b.Program(x.reg)
	if err != nil {
		return nil, err
	}
	slices.Sort(c.columns)
	return &Expr{p, x.affinity, slices.Compact(c.columns)}, nil
}

// A compiler compiles one expression.
//
// Its registers are a stack. The value of a node is a constant, or in the register that was the
// next one when the compiler began with the node. The registers behind that are free again.
type compiler struct {
	b       program.Builder
	table   *ddl.Table
	place   Place
	columns []int
}

func (c *compiler) compile(n *syntax.Expr) (term, error) {
	switch n.Op {
	case syntax.OpNull:
		return c.constant(record.Value{}), nil
	case syntax.OpInteger, syntax.OpFloat:
		return c.literal(n.Text, false)
	case syntax.OpString:
		return c.constant(record.OfText([]byte(n.Text))), nil
	case syntax.OpBlob:
		return c.constant(record.OfBlob(n.Bytes())), nil
	case syntax.OpColumn:
		if len(n.Path) > 0 {
			return c.member(n)
		}
		return c.name(n)
	case syntax.OpTruth:
		truth, _ := n.Truth()
		return c.constant(value.OfBool(truth)), nil
	case syntax.OpPlus:
		x, err := c.compile(n.Left)
		x.affinity = value.NoAffinity
		return x, err
	case syntax.OpMinus:
		return c.minus(n)
	case syntax.OpIs, syntax.OpIsNot:
		return c.is(n)
	case syntax.OpAnd, syntax.OpOr:
		return c.logic(n)
	}
	if op, ok := prefixes[n.Op]; ok {
		return c.unary(n.Left, op)
	}
	if n.Op >= syntax.OpEqual && n.Op < syntax.OpMatch {
		return c.infix(n)
	}
	return c.compileOther(n)
}

func (c *compiler) compileOther(n *syntax.Expr) (term, error) {
	switch n.Op {
	case syntax.OpFunction:
		return c.call(n)
	case syntax.OpBetween:
		return c.between(n)
	case syntax.OpIn:
		return c.in(n)
	case syntax.OpMatch:
		return c.like(n)
	case syntax.OpCollate:
		x, err := c.compile(n.Left)
		if err != nil {
			return x, err
		}
		return collate(x, n.Text)
	case syntax.OpCast:
		return c.cast(n)
	case syntax.OpCase:
		return c.caseOf(n)
	}
	return term{}, errors.New(refused[n.Op])
}

// refused names the expressions that only a query can evaluate.
var refused = map[syntax.Op]string{
	syntax.OpNow: "the current time", syntax.OpParameter: "a parameter", syntax.OpRow: "a row value", syntax.OpSubquery: "a SELECT",
	syntax.OpExists: "EXISTS", syntax.OpRaise: "RAISE", syntax.OpInTable: "IN with a table or a SELECT",
}

// constant is a term without a row.
func (c *compiler) constant(v record.Value) term {
	return term{reg: c.b.Constant(v), affinity: value.NoAffinity}
}

// free gives back all registers from mark on, and takes the first of them.
func (c *compiler) free(mark program.Reg) program.Reg {
	c.b.Release(mark)
	return c.b.Alloc()
}

// literal is a number. A minus before it is a part of it: only so is -9223372036854775808 an
// integer.
func (c *compiler) literal(text string, negative bool) (term, error) {
	if len(text) > 2 && text[1]|0x20 == 'x' {
		return c.hexadecimal(text, negative)
	}
	if negative {
		text = "-" + text
	}
	if i, how := value.ReadInteger([]byte(text)); how == value.IntegerWhole {
		return c.constant(record.OfInt(i)), nil
	}
	return c.constant(record.OfFloat(value.ReadFloat([]byte(text)).Value)), nil
}

func (c *compiler) hexadecimal(text string, negative bool) (term, error) {
	digits := text[2:]
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	if len(digits) > 16 {
		return term{}, fmt.Errorf("hexadecimal literal too large: %s", text)
	}
	var u uint64
	for _, d := range []byte(digits) {
		if !value.IsDigit(d) {
			d = d | 0x20 - 'a' + '0' + 10
		}
		u = u<<4 | uint64(d-'0')
	}
	if negative && u == 1<<63 {
		return term{}, fmt.Errorf("hexadecimal literal too large: -%s", text)
	}
	if negative {
		u = -u
	}
	return c.constant(record.OfInt(int64(u))), nil
}

// name is a column, the rowid, TRUE, FALSE, or a string in double quotes.
func (c *compiler) name(n *syntax.Expr) (term, error) {
	if x, ok, err := c.column(n.Text); ok || err != nil {
		return x, err
	}
	if truth, ok := n.Truth(); ok {
		return c.constant(value.OfBool(truth)), nil
	}
	if n.Quote == '"' { // in a schema that is read, in every build of SQLite
		return c.constant(record.OfText([]byte(n.Text))), nil
	}
	return term{}, fmt.Errorf("no such column: %s", n.Text)
}

// column finds a column by its name, or the rowid by one of its own.
func (c *compiler) column(name string) (x term, ok bool, err error) {
	i := c.table.ColumnIndex(name)
	if i >= 0 && i == c.table.RowidAlias {
		return c.reads(Rowid, term{affinity: value.AffinityInteger}), true, nil
	}
	if i >= 0 {
		col := &c.table.Columns[i]
		order, ok := value.CollationOf(col.Collation)
		if !ok {
			return term{}, false, fmt.Errorf("column %s with the collation %s", col.Name, col.Collation)
		}
		return c.reads(i, term{affinity: col.Affinity, collation: order}), true, nil
	}
	isRowid := ddl.EqualFold(name, "rowid") || ddl.EqualFold(name, "oid") || ddl.EqualFold(name, "_rowid_")
	if !isRowid || c.table.WithoutRowid || c.place == Term || c.place == Generated {
		return term{}, false, nil
	}
	return c.reads(Rowid, term{affinity: value.AffinityInteger}), true, nil
}

// reads completes the term of a column.
func (c *compiler) reads(i int, x term) term {
	c.columns = append(c.columns, i)
	x.reg = c.b.Column(i)
	return x
}

// member is a column behind the name of the table. SQLite ignores the name of a database in front
// of that in a schema.
func (c *compiler) member(n *syntax.Expr) (term, error) {
	table := n.Path[len(n.Path)-1].Text
	if !ddl.EqualFold(table, c.table.Name) || c.place == Term || c.place == Generated {
		return term{}, fmt.Errorf("the name %s.%s", table, n.Text)
	}
	x, ok, err := c.column(n.Text)
	if err == nil && !ok {
		err = fmt.Errorf("no such column: %s.%s", table, n.Text)
	}
	return x, err
}

// collate is a term with the COLLATE operator.
func collate(x term, name string) (term, error) {
	order, ok := value.CollationOf(name)
	if !ok {
		return term{}, fmt.Errorf("the collation %s", name)
	}
	x.collation, x.explicit = order, true
	return x, nil
}

// inherit gives a term the collation of the first operand that has an explicit one.
func inherit(x term, operands ...term) term {
	for _, o := range operands {
		if o.explicit {
			x.collation, x.explicit = o.collation, true
			break
		}
	}
	return x
}

// compared returns the collation by which two terms are compared.
func compared(a, b term) value.Collation {
	switch {
	case a.explicit:
		return a.collation
	case b.explicit:
		return b.collation
	case a.collation != value.NoCollation:
		return a.collation
	}
	return b.collation
}
