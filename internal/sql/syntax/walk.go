package syntax

// Walk calls visit for n and the nodes below it, in the order of the text as far as it can. It
// skips the children of a node if visit returns false for it. The depth of its recursion is bounded
// by the limits of the parser.
func Walk(n Node, visit func(Node) bool) {
	if visit(n) {
		children(n, func(child Node) { Walk(child, visit) })
	}
}

// children calls visit for the nodes right below n.
func children(n Node, visit func(Node)) {
	switch n := n.(type) {
	case *Expr:
		visitExpr(visit, n)
	case *Window:
		visitWindow(visit, n)
	case *CommonTable:
		visitCommonTable(visit, n)
	case *Select:
		visitSelect(visit, n)
	case *Core:
		visitCore(visit, n)
	case *Source:
		visitSource(visit, n)
	case *Insert:
		visitInsert(visit, n)
	case *Update:
		visitUpdate(visit, n)
	case *Delete:
		visitDelete(visit, n)
	case *CreateTable:
		visitCreateTable(visit, n)
	case *Alter:
		visitAlter(visit, n)
	case *CreateIndex:
		visitCreateIndex(visit, n)
	case *CreateView:
		visitCreateView(visit, n)
	case *CreateTrigger:
		visitCreateTrigger(visit, n)
	case *Attach:
		visitAttach(visit, n)
	case *Detach:
		visitDetach(visit, n)
	case *Vacuum:
		visitVacuum(visit, n)
	}
}

func visitExprs(visit func(Node), list ...*Expr) {
	for _, e := range list {
		if e != nil {
			visit(e)
		}
	}
}

func visitTerms(visit func(Node), list []Term) {
	for _, t := range list {
		visit(t.Expr)
	}
}

func visitColumns(visit func(Node), list []Column) {
	for _, c := range list {
		visit(c.Expr)
	}
}

func visitSources(visit func(Node), list []Source) {
	for i := range list {
		visit(&list[i])
	}
}

func visitAssignments(visit func(Node), list []Assignment) {
	for _, a := range list {
		visit(a.Value)
	}
}

func visitExpr(visit func(Node), e *Expr) {
	visitExprs(visit, e.Left)
	if e.Op != OpMatch {
		visitExprs(visit, e.List...)
	}
	visitExprs(visit, e.Right)
	if e.Op == OpMatch {
		visitExprs(visit, e.List...)
	}
	if e.Query != nil {
		visit(e.Query)
	}
	if c := e.Call; c != nil {
		visitTerms(visit, c.OrderBy)
		visitExprs(visit, c.Filter)
		if c.Over != nil {
			visit(c.Over)
		}
	}
}

func visitWindow(visit func(Node), w *Window) {
	visitExprs(visit, w.Partition...)
	visitTerms(visit, w.OrderBy)
	if w.Frame != nil {
		visitExprs(visit, w.Frame.Start.Expr, w.Frame.End.Expr)
	}
}

func visitWith(visit func(Node), w *With) {
	if w == nil {
		return
	}
	for i := range w.Tables {
		visit(&w.Tables[i])
	}
}

func visitCommonTable(visit func(Node), t *CommonTable) { visit(t.Query) }

func visitSelect(visit func(Node), n *Select) {
	visitWith(visit, n.With)
	for i := range n.Cores {
		visit(&n.Cores[i])
	}
	visitTerms(visit, n.OrderBy)
	visitExprs(visit, n.Limit, n.Offset)
}

func visitCore(visit func(Node), c *Core) {
	for _, row := range c.Values {
		visitExprs(visit, row...)
	}
	visitColumns(visit, c.Columns)
	visitSources(visit, c.From)
	visitExprs(visit, c.Where)
	visitExprs(visit, c.GroupBy...)
	visitExprs(visit, c.Having)
	for _, w := range c.Windows {
		visit(w)
	}
}

func visitSource(visit func(Node), s *Source) {
	visitExprs(visit, s.Arguments...)
	if s.Query != nil {
		visit(s.Query)
	}
	visitSources(visit, s.Nested)
	visitExprs(visit, s.On)
}

func visitInsert(visit func(Node), n *Insert) {
	visitWith(visit, n.With)
	if n.Query != nil {
		visit(n.Query)
	}
	for i := range n.Upserts {
		u := &n.Upserts[i]
		visitTerms(visit, u.Target)
		visitExprs(visit, u.TargetWhere)
		visitAssignments(visit, u.Update)
		visitExprs(visit, u.Where)
	}
	visitColumns(visit, n.Returning)
}

func visitUpdate(visit func(Node), n *Update) {
	visitWith(visit, n.With)
	visitAssignments(visit, n.Set)
	visitSources(visit, n.From)
	visitExprs(visit, n.Where)
	visitColumns(visit, n.Returning)
}

func visitDelete(visit func(Node), n *Delete) {
	visitWith(visit, n.With)
	visitExprs(visit, n.Where)
	visitColumns(visit, n.Returning)
}

func visitCreateTable(visit func(Node), n *CreateTable) {
	for i := range n.Columns {
		for j := range n.Columns[i].Constraints {
			visitConstraint(visit, &n.Columns[i].Constraints[j])
		}
	}
	for i := range n.Constraints {
		visitConstraint(visit, &n.Constraints[i])
	}
	if n.Query != nil {
		visit(n.Query)
	}
}

func visitConstraint(visit func(Node), c *Constraint) {
	visitTerms(visit, c.Terms)
	visitExprs(visit, c.Expr)
}

func visitAlter(visit func(Node), n *Alter) {
	if n.Definition != nil {
		for i := range n.Definition.Constraints {
			visitConstraint(visit, &n.Definition.Constraints[i])
		}
	}
	if n.Constraint != nil {
		visitConstraint(visit, n.Constraint)
	}
}

func visitCreateIndex(visit func(Node), n *CreateIndex) {
	visitTerms(visit, n.Terms)
	visitExprs(visit, n.Where)
}

func visitCreateView(visit func(Node), n *CreateView) { visit(n.Query) }

func visitCreateTrigger(visit func(Node), n *CreateTrigger) {
	visitExprs(visit, n.When)
	for _, s := range n.Steps {
		visit(s)
	}
}

func visitAttach(visit func(Node), n *Attach) { visitExprs(visit, n.File, n.As, n.Key) }
func visitDetach(visit func(Node), n *Detach) { visitExprs(visit, n.Name) }
func visitVacuum(visit func(Node), n *Vacuum) { visitExprs(visit, n.Into) }
