package syntax

// conflictTexts are the words of conflict resolutions.
var conflictTexts = [...]string{"", "ROLLBACK", "ABORT", "FAIL", "IGNORE", "REPLACE"}

func (w *printer) conflict(prefix string, c Conflict) {
	if c != ConflictNone {
		w.word(prefix + " " + conflictTexts[c])
	}
}

func (w *printer) insert(n *Insert) {
	w.with(n.With)
	if n.Replace {
		w.word("REPLACE")
	} else {
		w.word("INSERT")
	}
	w.conflict("OR", n.Conflict)
	w.word("INTO")
	w.target(&n.Table)
	if n.Columns != nil {
		w.names(n.Columns)
	}
	if n.Query == nil {
		w.word("DEFAULT VALUES")
	} else {
		w.query(n.Query)
	}
	for i := range n.Upserts {
		w.upsert(&n.Upserts[i])
	}
	w.returning(n.Returning)
}

func (w *printer) upsert(u *Upsert) {
	w.word("ON CONFLICT")
	if u.Target != nil {
		w.parens(func() { w.terms(u.Target) })
		w.exprAfter("WHERE", u.TargetWhere)
	}
	if u.Update == nil {
		w.word("DO NOTHING")
		return
	}
	w.word("DO UPDATE")
	w.assignments(u.Update)
	w.exprAfter("WHERE", u.Where)
}

func (w *printer) target(t *Target) {
	w.qualified(t.QualifiedName)
	w.nameAfter("AS", t.Alias)
	w.nameAfter("INDEXED BY", t.IndexedBy)
	w.wordIf(t.NotIndexed, "NOT INDEXED")
}

func (w *printer) assignments(list []Assignment) {
	w.word("SET")
	w.list(len(list), func(i int) {
		if list[i].Row {
			w.names(list[i].Columns)
		} else {
			w.name(list[i].Columns[0])
		}
		w.exprAfter("=", list[i].Value)
	})
}

func (w *printer) update(n *Update) {
	w.with(n.With)
	w.word("UPDATE")
	w.conflict("OR", n.Conflict)
	w.target(&n.Table)
	w.assignments(n.Set)
	w.from(n.From)
	w.exprAfter("WHERE", n.Where)
	w.returning(n.Returning)
}

func (w *printer) remove(n *Delete) {
	w.with(n.With)
	w.word("DELETE FROM")
	w.target(&n.Table)
	w.exprAfter("WHERE", n.Where)
	w.returning(n.Returning)
}

func (w *printer) transaction(n *Transaction) {
	w.word([...]string{"BEGIN", "COMMIT", "ROLLBACK"}[n.Action])
	w.word([...]string{"", "DEFERRED", "IMMEDIATE", "EXCLUSIVE"}[n.Mode])
}

func (w *printer) savepoint(n *Savepoint) {
	w.word([...]string{"SAVEPOINT", "RELEASE SAVEPOINT", "ROLLBACK TO SAVEPOINT"}[n.Action])
	w.name(n.Name)
}

func (w *printer) pragma(n *Pragma) {
	w.word("PRAGMA")
	w.qualified(n.Name)
	if n.Value.IsZero() {
		return
	}
	value := func() {
		w.wordIf(n.Negative, "-")
		w.name(n.Value)
	}
	if n.Call {
		w.parens(value)
		return
	}
	w.word("=")
	value()
}

func (w *printer) attach(n *Attach) {
	w.exprAfter("ATTACH DATABASE", n.File)
	w.exprAfter("AS", n.As)
	w.exprAfter("KEY", n.Key)
}

func (w *printer) detach(n *Detach) { w.exprAfter("DETACH DATABASE", n.Name) }

func (w *printer) vacuum(n *Vacuum) {
	w.word("VACUUM")
	if !n.Schema.IsZero() {
		w.name(n.Schema)
	}
	w.exprAfter("INTO", n.Into)
}

func (w *printer) maintain(n *Maintain) {
	if n.Analyze {
		w.word("ANALYZE")
	} else {
		w.word("REINDEX")
	}
	if !n.Name.Name.IsZero() {
		w.qualified(n.Name)
	}
}
