package syntax

// An Explain is the EXPLAIN in front of a statement.
type Explain uint8

const (
	ExplainNone Explain = iota
	ExplainProgram
	ExplainQueryPlan
)

// A Parsed is a statement with the facts that belong to the whole of it.
type Parsed struct {
	Statement  Statement // nil if the text has only white space, comments and semicolons
	Explain    Explain
	Parameters int         // the largest number of a parameter
	Names      []Parameter // the parameters with names, ?NNN among them, in order of appearance
	Tail       int         // where the next statement begins, if Statement is not nil
}

// Parse reads the first statement of a text. The text ends at its first NUL.
func Parse(sql string) (*Parsed, *Error) {
	p := parser{sql: sql, stack: startStack}
	p.tok = p.read(tokSemicolon, 0)
	p.checkIllegal()
	for p.accept(tokSemicolon) {
	}
	out := &Parsed{Tail: p.tok.end}
	if p.tok.kind == tokEnd {
		return out, nil
	}
	out.Explain = p.explain()
	out.Statement = p.command()
	p.finish()
	if p.err != nil {
		return nil, p.err
	}
	out.Parameters, out.Names, out.Tail = p.parameters, p.names.list, p.tok.end
	return out, nil
}

// ParseExpr reads a text that is one expression, for example the expression of a CHECK constraint.
func ParseExpr(sql string) (*Expr, *Error) {
	p := parser{sql: sql, stack: startStack}
	p.tok = p.read(tokSemicolon, 0)
	p.checkIllegal()
	e := p.expr()
	if p.tok.kind != tokEnd {
		p.unexpected()
	}
	p.finish()
	if p.err != nil {
		return nil, p.err
	}
	return e, nil
}
