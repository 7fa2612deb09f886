package syntax

import "strings"

// operatorTexts are the texts of the operators between two expressions, and in front of one.
var operatorTexts = [...]string{
	OpNot: "NOT", OpMinus: "-", OpPlus: "+", OpBitNot: "~",
	OpIsNull: "IS NULL", OpNotNull: "IS NOT NULL",
	OpOr: "OR", OpAnd: "AND", OpEqual: "=", OpNotEqual: "<>",
	OpLess: "<", OpLessEqual: "<=", OpGreater: ">", OpGreaterEqual: ">=", OpIs: "IS", OpIsNot: "IS NOT",
	OpBitAnd: "&", OpBitOr: "|", OpShiftLeft: "<<", OpShiftRight: ">>",
	OpAdd: "+", OpSubtract: "-", OpMultiply: "*", OpDivide: "/", OpRemainder: "%",
	OpConcat: "||", OpArrow: "->", OpLongArrow: "->>",
	OpMatch: "", OpBetween: "BETWEEN", OpIn: "IN", OpInTable: "IN",
}

// part writes an operand: in parentheses if it has an operator itself.
func (w *printer) part(e *Expr) {
	if e.Op >= OpNot || e.Op == OpCollate {
		w.parens(func() { w.expr(e) })
		return
	}
	w.expr(e)
}

func (w *printer) expr(e *Expr) {
	switch {
	case e.Op < OpNot:
		w.value(e)
	case e.Op < OpIsNull:
		w.word(operatorTexts[e.Op])
		w.part(e.Left)
	case e.Op < OpOr:
		w.part(e.Left)
		w.word(operatorTexts[e.Op])
	default:
		w.part(e.Left)
		w.wordIf(e.Not, "NOT")
		w.word(operatorTexts[e.Op])
		w.rightSide(e)
	}
}

func (w *printer) rightSide(e *Expr) {
	switch e.Op {
	case OpMatch:
		w.word(e.Text)
		w.part(e.Right)
		if e.List != nil {
			w.word("ESCAPE")
			w.part(e.List[0])
		}
	case OpBetween:
		w.part(e.List[0])
		w.word("AND")
		w.part(e.List[1])
	case OpIn:
		w.parens(func() {
			w.exprs(e.List)
			if e.Query != nil {
				w.query(e.Query)
			}
		})
	case OpInTable:
		w.path(e)
		if e.Call != nil {
			w.parens(func() { w.exprs(e.List) })
		}
	default:
		w.part(e.Right)
	}
}

// path writes the name in Text with the names in front. It puts a column WITH in brackets, because
// a WITH behind a parenthesis is the keyword.
func (w *printer) path(e *Expr) {
	part := func(text string, quote byte) string {
		if quote == 0 && fold(text) == "with" {
			quote = '['
		}
		return quoted(text, quote)
	}
	text := part(e.Text, e.Quote)
	if e.Op == OpStar {
		text = "*"
	}
	var b strings.Builder
	for _, n := range e.Path {
		b.WriteString(part(n.Text, n.Quote) + ".")
	}
	w.word(b.String() + text)
}

// value writes an expression that is no operator.
func (w *printer) value(e *Expr) {
	switch e.Op {
	case OpNull:
		w.word("NULL")
	case OpString:
		w.word(quoted(e.Text, '\''))
	case OpTruth:
		w.word(e.Text)
	case OpColumn, OpStar:
		w.path(e)
	case OpRow:
		w.parens(func() { w.exprs(e.List) })
	case OpSubquery:
		w.parens(func() { w.query(e.Query) })
	case OpExists:
		w.word("EXISTS")
		w.parens(func() { w.query(e.Query) })
	case OpFunction:
		w.call(e)
	case OpCase:
		w.caseWhen(e)
	case OpCast:
		w.word("CAST")
		w.parens(func() {
			w.expr(e.Left)
			w.word("AS " + e.Text)
		})
	case OpCollate:
		w.part(e.Left)
		w.word("COLLATE " + quoted(e.Text, e.Quote))
	case OpRaise:
		w.word("RAISE")
		w.parens(func() {
			w.word(e.Text)
			w.exprAfter(",", e.Left)
		})
	default:
		w.word(e.Text)
	}
}

func (w *printer) caseWhen(e *Expr) {
	w.word("CASE")
	if e.Left != nil {
		w.expr(e.Left)
	}
	for i := 0; i+1 < len(e.List); i += 2 {
		w.exprAfter("WHEN", e.List[i])
		w.exprAfter("THEN", e.List[i+1])
	}
	w.exprAfter("ELSE", e.Right)
	w.word("END")
}

func (w *printer) call(e *Expr) {
	c := e.Call
	if c == nil {
		c = &Call{}
	}
	w.path(e)
	w.parens(func() {
		w.wordIf(c.Star, "*")
		w.wordIf(c.Distinct, "DISTINCT")
		w.exprs(e.List)
		w.orderBy(c.OrderBy)
	})
	if c.Filter != nil {
		w.word("FILTER")
		w.parens(func() { w.exprAfter("WHERE", c.Filter) })
	}
	if c.Over != nil {
		w.word("OVER")
		if c.Over.NameOnly {
			w.name(c.Over.Base)
			return
		}
		w.parens(func() { w.window(c.Over) })
	}
}

func (w *printer) window(win *Window) {
	if !win.Base.IsZero() {
		w.name(win.Base)
	}
	if win.Partition != nil {
		w.word("PARTITION BY")
		w.exprs(win.Partition)
	}
	w.orderBy(win.OrderBy)
	f := win.Frame
	if f == nil {
		return
	}
	w.word([...]string{"RANGE", "ROWS", "GROUPS"}[f.Unit])
	if f.Between {
		w.word("BETWEEN")
	}
	w.bound(f.Start)
	if f.Between {
		w.word("AND")
		w.bound(f.End)
	}
	w.word([...]string{
		"", "EXCLUDE NO OTHERS", "EXCLUDE CURRENT ROW", "EXCLUDE GROUP", "EXCLUDE TIES",
	}[f.Exclude])
}

func (w *printer) bound(b Bound) {
	if b.Expr != nil {
		w.parens(func() { w.expr(b.Expr) }) // a column may be named CURRENT
	}
	w.word([...]string{
		"UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW", "FOLLOWING", "UNBOUNDED FOLLOWING",
	}[b.Kind])
}
