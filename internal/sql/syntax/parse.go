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
	End        int         // where the token begins that ends the statement: a semicolon, or the end of the text
	Tail       int         // where the next statement begins, if Statement is not nil
}

// Parse reads the first statement of a text. The text ends at its first NUL.
func Parse(sql string) (*Parsed, *Error) { return parse(sql, false) }

// ParseStored is Parse for a statement in sqlite_schema. SQLite still reads there what old versions
// have stored: COLLATE and a direction behind the names in a foreign key or in a view. ParseStored
// reads only the tokens of the query of a view and of the body of a trigger: a database may have
// many long ones, and who opens it needs their names alone.
func ParseStored(sql string) (*Parsed, *Error) { return parse(sql, true) }

func parse(sql string, stored bool) (*Parsed, *Error) {
	p := parser{sql: sql, stored: stored, stack: startStack}
	p.tok = p.read(tokSemicolon, 0)
	p.checkIllegal()
	for p.accept(tokSemicolon) {
	}
	out := &Parsed{End: p.tok.start, Tail: p.tok.end}
	if p.tok.kind == tokEnd {
		return out, nil
	}
	out.Explain = p.explain()
	out.Statement = p.command()
	p.finish()
	if p.err != nil {
		return nil, p.err
	}
	out.Parameters, out.Names, out.End, out.Tail = p.parameters, p.names.list, p.tok.start, p.tok.end
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
