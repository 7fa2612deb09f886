package syntax

// An Op is the kind of an expression.
type Op uint8

// The kinds of expressions. The comments say which fields of an Expr they use.
const (
	OpNull      Op = iota
	OpInteger      // Text as written without separators; Int
	OpFloat        // Text; Float
	OpString       // Text without quotes
	OpBlob         // Text as written; Bytes
	OpNow          // CURRENT_DATE, CURRENT_TIME or CURRENT_TIMESTAMP: Text
	OpParameter    // Text, Number
	OpColumn       // Path, Text, Quote; TRUE and FALSE are one, unless they are an OpTruth
	OpTruth        // TRUE or FALSE, in Text, in a list of one constant: no column there
	OpStar         // * or table.* of a result: Path
	OpRow          // (List), at least two
	OpSubquery     // (Query)
	OpExists       // EXISTS (Query)
	OpFunction     // Text, Quote, List, Call
	OpCase         // CASE Left WHEN List[0] THEN List[1] ... ELSE Right END
	OpCast         // CAST(Left AS Text), as the type is written
	OpCollate      // Left COLLATE Text, Quote
	OpRaise        // RAISE(Text) or RAISE(Text, Left)

	// Operators before their operand, Left.
	OpNot
	OpMinus
	OpPlus
	OpBitNot

	// Operators behind their operand, Left.
	OpIsNull
	OpNotNull

	// Operators between Left and Right. Not negates the operators that can be negated.
	OpOr
	OpAnd
	OpEqual
	OpNotEqual
	OpLess
	OpLessEqual
	OpGreater
	OpGreaterEqual
	OpIs
	OpIsNot
	OpBitAnd
	OpBitOr
	OpShiftLeft
	OpShiftRight
	OpAdd
	OpSubtract
	OpMultiply
	OpDivide
	OpRemainder
	OpConcat
	OpArrow     // ->
	OpLongArrow // ->>
	OpMatch     // Left Text Right, where Text is LIKE, GLOB, REGEXP or MATCH; List has the ESCAPE
	OpBetween   // Left BETWEEN List[0] AND List[1]
	OpIn        // Left IN (List) or (Query)
	OpInTable   // Left IN a table: Path, Text, Quote; Call if there are parentheses for arguments, List
)

// An Expr is an expression. Parentheses are not kept: the shape of the tree shows the order.
type Expr struct {
	Span
	Op        Op
	Not       bool
	Quote     byte // of the name in Text: 0, or one of " ' ` [. A name in " may be a string
	Constant  bool // the list of an OpIn is one constant: SQLite compares by =, with the affinity of Left alone
	Oversized bool // an OpInteger in hexadecimal that does not fit into 64 bits
	height    int32
	Number    int32 // of an OpParameter, from 1
	Text      string
	Left      *Expr
	Right     *Expr
	List      []*Expr
	Path      []Name // the names in front of Text: a table, or a schema and a table
	Query     *Select
	Call      *Call
	bits      uint64 // of a number; of an OpColumn where Text begins
}

// Truth reports whether e is the word TRUE or FALSE, and which. Where OpColumn is its kind, a
// column of that name comes first.
func (e *Expr) Truth() (truth, ok bool) {
	if e.Op != OpTruth && (e.Op != OpColumn || len(e.Path) > 0 || e.Quote != 0) {
		return false, false
	}
	word := fold(e.Text)
	return word == "true", word == "true" || word == "false"
}

// NameSpan returns the span of the name in Text of an OpColumn, behind the names in Path.
func (e *Expr) NameSpan() Span { return Span{int(e.bits), e.End} }

// A Call holds the parts of a function call besides name and arguments. Most calls have none.
type Call struct {
	Star     bool // count(*)
	Distinct bool
	OrderBy  []Term
	Filter   *Expr
	Over     *Window
}

// A Term is an expression of ORDER BY or of an index.
type Term struct {
	Span  // of the expression, with the parentheses around it
	Expr  *Expr
	Order Order
	Nulls Nulls
}

// An Order is the direction of a term.
type Order uint8

const (
	OrderNone Order = iota // not said
	OrderAsc
	OrderDesc
)

// A Nulls is the place of NULL in a term's order.
type Nulls uint8

const (
	NullsNone Nulls = iota // not said
	NullsFirst
	NullsLast
)

// A Window is a window that OVER or a WINDOW clause defines.
type Window struct {
	Span
	Name      Name // of a definition in a WINDOW clause
	Base      Name // the window that it extends, or all of OVER name
	NameOnly  bool // OVER name, which is not OVER (name)
	Partition []*Expr
	OrderBy   []Term
	Frame     *Frame // nil for the default
}

// A Frame is the frame of a window.
type Frame struct {
	Unit    FrameUnit
	Start   Bound
	End     Bound
	Between bool // END was said; it is CURRENT ROW otherwise
	Exclude Exclude
}

// A FrameUnit is the unit of a frame.
type FrameUnit uint8

const (
	FrameRange FrameUnit = iota
	FrameRows
	FrameGroups
)

// A Bound is one end of a frame.
type Bound struct {
	Kind BoundKind
	Expr *Expr // of BoundPreceding and BoundFollowing
}

// A BoundKind is the kind of a Bound, in the order from first to last row.
type BoundKind uint8

const (
	BoundUnboundedPreceding BoundKind = iota
	BoundPreceding
	BoundCurrentRow
	BoundFollowing
	BoundUnboundedFollowing
)

// An Exclude is the word behind EXCLUDE. ExcludeNoOthers and ExcludeNone mean the same.
type Exclude uint8

const (
	ExcludeNone Exclude = iota
	ExcludeNoOthers
	ExcludeCurrentRow
	ExcludeGroup
	ExcludeTies
)
