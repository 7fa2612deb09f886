package syntax

// A Select is a query: cores with operators between them.
type Select struct {
	Span
	With    *With
	Cores   []Core // at least one
	OrderBy []Term
	Limit   *Expr
	Offset  *Expr
	height  int32
}

// A Core is a SELECT or a VALUES without the clauses that belong to the whole.
type Core struct {
	Span
	Compound Compound // between the core before and this one
	Values   [][]*Expr
	Distinct bool
	All      bool // SELECT ALL, which means the same as SELECT
	Columns  []Column
	From     []Source
	Where    *Expr
	GroupBy  []*Expr
	Having   *Expr
	Windows  []*Window
}

// A Compound is an operator between two cores.
type Compound uint8

const (
	CompoundNone Compound = iota // the first core
	Union
	UnionAll
	Except
	Intersect
)

// String returns the operator in SQL.
func (c Compound) String() string {
	return [...]string{"", "UNION", "UNION ALL", "EXCEPT", "INTERSECT"}[c]
}

// A Column is a column of a result. [Column.Words] is its name, if it has no alias.
type Column struct {
	Span  // of the expression, with the parentheses around it
	Expr  *Expr
	Alias Name
}

// A Source is an entry of FROM with the operator that joins it to the entries before it.
type Source struct {
	Span
	Join       Join // of the first entry: 0
	Name       QualifiedName
	Arguments  []*Expr // of a table-valued function
	Function   bool    // has parentheses for arguments
	Query      *Select
	Nested     []Source // ( sources )
	Alias      Name
	IndexedBy  Name
	NotIndexed bool
	On         *Expr
	Using      []Name
}

// A Join is the kind of a join, as a set of the words that make it up.
type Join uint8

const (
	JoinComma Join = 1 << iota
	JoinInner
	JoinCross // implies JoinInner
	JoinNatural
	JoinLeft  // implies JoinOuter; with JoinRight, a full join
	JoinRight // implies JoinOuter
	JoinOuter
)

// A With is the common table expressions of a statement.
type With struct {
	Span
	Recursive bool // the word; whether a table is recursive is seen by its use
	Tables    []CommonTable
}

// A CommonTable is one common table expression.
type CommonTable struct {
	Span
	Name         Name
	Columns      []NameTerm
	Materialized Materialized
	Query        *Select
}

// A Materialized is the hint of AS MATERIALIZED.
type Materialized uint8

const (
	MaterializedNone Materialized = iota // not said
	MaterializedYes
	MaterializedNot
)
