package syntax

// String returns the statement in SQL: a text that reads as the same tree. White space, comments
// and parentheses are the printer's own.
func (p *Parsed) String() string {
	w := &printer{}
	switch p.Explain {
	case ExplainProgram:
		w.word("EXPLAIN")
	case ExplainQueryPlan:
		w.word("EXPLAIN QUERY PLAN")
	}
	w.statement(p.Statement)
	return w.text()
}

// String returns the expression in SQL.
func (e *Expr) String() string {
	w := &printer{}
	w.expr(e)
	return w.text()
}

// statement writes a statement, nothing for nil.
func (w *printer) statement(s Statement) {
	switch n := s.(type) {
	case *Select:
		w.query(n)
	case *Insert:
		w.insert(n)
	case *Update:
		w.update(n)
	case *Delete:
		w.remove(n)
	case *Transaction:
		w.transaction(n)
	case *Savepoint:
		w.savepoint(n)
	case *Pragma:
		w.pragma(n)
	case *Attach:
		w.attach(n)
	case *Detach:
		w.detach(n)
	case *Vacuum:
		w.vacuum(n)
	case *Maintain:
		w.maintain(n)
	case *CreateTable:
		w.createTable(n)
	case *CreateIndex:
		w.createIndex(n)
	case *CreateView:
		w.createView(n)
	case *CreateVirtual:
		w.createVirtual(n)
	case *CreateTrigger:
		w.createTrigger(n)
	case *Drop:
		w.drop(n)
	case *Alter:
		w.alter(n)
	}
}
