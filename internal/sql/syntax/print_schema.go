package syntax

// create writes the words in front of the name of a new object, and the name.
func (w *printer) create(temp bool, what string, ifNotExists bool, name QualifiedName) {
	w.word("CREATE")
	w.wordIf(temp, "TEMP")
	w.word(what)
	w.wordIf(ifNotExists, "IF NOT EXISTS")
	w.qualified(name)
}

func (w *printer) createTable(n *CreateTable) {
	w.create(n.Temp, "TABLE", n.IfNotExists, n.Name)
	if n.Query != nil {
		w.word("AS")
		w.query(n.Query)
		return
	}
	w.parens(func() {
		w.list(len(n.Columns), func(i int) { w.columnDef(&n.Columns[i]) })
		for i := range n.Constraints {
			if n.Constraints[i].Comma {
				w.WriteByte(',')
			}
			w.constraint(&n.Constraints[i])
		}
	})
	w.wordIf(n.WithoutRowid, "WITHOUT ROWID")
	w.wordIf(n.WithoutRowid && n.Strict, ",")
	w.wordIf(n.Strict, "STRICT")
}

func (w *printer) columnDef(d *ColumnDef) {
	w.name(d.Name)
	w.word(d.TypeText)
	for i := range d.Constraints {
		w.constraint(&d.Constraints[i])
	}
}

func (w *printer) constraint(c *Constraint) {
	switch c.Kind {
	case ConstraintName:
		w.word("CONSTRAINT")
		w.name(c.Name)
	case ConstraintPrimaryKey:
		w.word("PRIMARY KEY")
		w.key(c)
	case ConstraintUnique:
		w.word("UNIQUE")
		w.key(c)
	case ConstraintNull:
		w.word("NULL")
		w.conflict("ON CONFLICT", c.Conflict)
	case ConstraintNotNull:
		w.word("NOT NULL")
		w.conflict("ON CONFLICT", c.Conflict)
	case ConstraintCheck:
		w.word("CHECK")
		w.parens(func() { w.expr(c.Expr) })
		w.conflict("ON CONFLICT", c.Conflict)
	case ConstraintDefault:
		w.word("DEFAULT")
		if c.Parens {
			w.parens(func() { w.expr(c.Expr) })
		} else {
			w.expr(c.Expr)
		}
	case ConstraintCollate:
		w.word("COLLATE")
		w.name(c.Name)
	case ConstraintForeign:
		if c.Columns != nil {
			w.word("FOREIGN KEY")
			w.nameTerms(c.Columns)
		}
		w.reference(c.Reference)
		w.deferrable(c.Deferrable)
	case ConstraintDeferrable:
		w.deferrable(c.Deferrable)
	case ConstraintGenerated:
		w.wordIf(c.Always, "GENERATED ALWAYS")
		w.word("AS")
		w.parens(func() { w.expr(c.Expr) })
		if !c.Name.IsZero() {
			w.name(c.Name)
		}
	}
}

// key writes the clauses behind PRIMARY KEY and UNIQUE. The place of AUTOINCREMENT is within the
// parentheses of a table's constraint.
func (w *printer) key(c *Constraint) {
	if c.Terms != nil {
		w.parens(func() {
			w.terms(c.Terms)
			w.wordIf(c.Autoincrement, "AUTOINCREMENT")
		})
	}
	w.word([...]string{"", "ASC", "DESC"}[c.Order])
	w.conflict("ON CONFLICT", c.Conflict)
	w.wordIf(c.Autoincrement && c.Terms == nil, "AUTOINCREMENT")
}

func (w *printer) reference(r *Reference) {
	w.word("REFERENCES")
	w.name(r.Table)
	w.nameTerms(r.Columns)
	w.wordIf(r.OnDelete != ActionNone, "ON DELETE "+r.OnDelete.String())
	w.wordIf(r.OnUpdate != ActionNone, "ON UPDATE "+r.OnUpdate.String())
}

func (w *printer) deferrable(d Deferrable) {
	w.word([...]string{"", "NOT DEFERRABLE", "DEFERRABLE", "DEFERRABLE INITIALLY DEFERRED"}[d])
}

func (w *printer) createIndex(n *CreateIndex) {
	what := "INDEX"
	if n.Unique {
		what = "UNIQUE INDEX"
	}
	w.create(false, what, n.IfNotExists, n.Name)
	w.word("ON")
	w.name(n.Table)
	w.parens(func() { w.terms(n.Terms) })
	w.exprAfter("WHERE", n.Where)
}

func (w *printer) createView(n *CreateView) {
	w.create(n.Temp, "VIEW", n.IfNotExists, n.Name)
	w.nameTerms(n.Columns)
	w.word("AS")
	w.query(n.Query)
}

func (w *printer) createVirtual(n *CreateVirtual) {
	w.create(false, "VIRTUAL TABLE", n.IfNotExists, n.Name)
	w.word("USING")
	w.name(n.Module)
	if n.Parens {
		w.parens(func() { w.list(len(n.Texts), func(i int) { w.word(n.Texts[i]) }) })
	}
}

func (w *printer) createTrigger(n *CreateTrigger) {
	w.create(n.Temp, "TRIGGER", n.IfNotExists, n.Name)
	w.word([...]string{"", "BEFORE", "AFTER", "INSTEAD OF"}[n.Time])
	w.word([...]string{"DELETE", "INSERT", "UPDATE"}[n.Event])
	if n.Columns != nil {
		w.word("OF")
		w.list(len(n.Columns), func(i int) { w.name(n.Columns[i]) })
	}
	w.word("ON")
	w.qualified(n.Table)
	w.wordIf(n.ForEachRow, "FOR EACH ROW")
	w.exprAfter("WHEN", n.When)
	w.word("BEGIN")
	for _, s := range n.Steps {
		w.statement(s)
		w.WriteByte(';')
	}
	w.word("END")
}

func (w *printer) drop(n *Drop) {
	w.word([...]string{"DROP TABLE", "DROP INDEX", "DROP VIEW", "DROP TRIGGER"}[n.Kind])
	w.wordIf(n.IfExists, "IF EXISTS")
	w.qualified(n.Name)
}

func (w *printer) alter(n *Alter) {
	w.word("ALTER TABLE")
	w.qualified(n.Table)
	switch n.Action {
	case AlterRename:
		w.nameAfter("RENAME TO", n.To)
	case AlterRenameColumn:
		w.nameAfter("RENAME COLUMN", n.Column)
		w.nameAfter("TO", n.To)
	case AlterAddColumn:
		w.word("ADD COLUMN")
		w.columnDef(n.Definition)
	case AlterDropColumn:
		w.nameAfter("DROP COLUMN", n.Column)
	case AlterAddConstraint:
		w.word("ADD")
		w.nameAfter("CONSTRAINT", n.Constraint.Name)
		w.constraint(n.Constraint)
	case AlterDropConstraint:
		w.nameAfter("DROP CONSTRAINT", n.Column)
	case AlterSetNotNull:
		w.nameAfter("ALTER COLUMN", n.Column)
		w.word("SET")
		w.constraint(n.Constraint)
	case AlterDropNotNull:
		w.nameAfter("ALTER COLUMN", n.Column)
		w.word("DROP NOT NULL")
	}
}
