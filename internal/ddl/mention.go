package ddl

import (
	"cmp"
	"slices"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// A mention is a token of a statement that names a table or a column, or may do so.
type mention struct {
	syntax.Name
	kind  mentionKind
	part  part
	table syntax.Name // of mentionMember: the name of the table before the last dot
	of    string      // in partParent: the name of the parent table
	index int         // of mentionColumn: which column the token defines
}

// A mentionKind is the kind of a name in a mention.
type mentionKind uint8

const (
	mentionName    mentionKind = iota // a name or a quoted name
	mentionString                     // a string: a value, or the name of a column (Q10)
	mentionMember                     // the column in TABLE.COLUMN
	mentionColumn                     // the name in the definition of a column
	mentionTable                      // the table that CREATE TABLE makes or that an index is on
	mentionParent                     // the table after REFERENCES
	mentionUnknown                    // a part of an expression whose names are not known
)

// A part is where in a statement names are being read.
type part uint8

const (
	partOther     part = iota
	partKey            // UNIQUE and PRIMARY KEY constraints of the table
	partCheck          // CHECK
	partGenerated      // the expression of a generated column
	partTerm           // the terms of an index
	partWhere          // WHERE of an index
	partChild          // the columns after FOREIGN KEY
	partParent         // the columns after REFERENCES
)

// A mentioner gathers the mentions of a statement.
type mentioner struct {
	list []mention
	part part
}

// mentionsIn returns the mentions of a CREATE TABLE or CREATE INDEX in the order of the text.
// Defaults have none: they refer to nothing.
func mentionsIn(sql string) ([]mention, error) {
	p, err := parse(sql)
	if err != nil {
		return nil, err
	}
	var m mentioner
	switch n := p.Statement.(type) {
	case *syntax.CreateTable:
		m.table(n)
	case *syntax.CreateIndex:
		m.add(n.Table, mentionTable)
		m.part = partTerm
		m.terms(n.Terms, 1)
		m.part = partWhere
		m.expr(n.Where)
	}
	slices.SortStableFunc(m.list, func(a, b mention) int { return cmp.Compare(a.Start, b.Start) })
	return m.list, nil
}

func (m *mentioner) add(name syntax.Name, kind mentionKind) {
	m.list = append(m.list, mention{Name: name, kind: kind, part: m.part})
}

func (m *mentioner) table(n *syntax.CreateTable) {
	m.add(n.Name.Name, mentionTable)
	for i := range n.Columns {
		d := &n.Columns[i]
		m.list = append(m.list, mention{Name: d.Name, kind: mentionColumn, index: i})
		m.constraints(d.Constraints)
	}
	m.constraints(n.Constraints)
}

func (m *mentioner) constraints(list []syntax.Constraint) {
	for i := range list {
		m.constraint(&list[i])
	}
}

func (m *mentioner) constraint(c *syntax.Constraint) {
	switch c.Kind {
	case syntax.ConstraintPrimaryKey:
		m.part = partKey
		m.terms(c.Terms, maxTerms)
	case syntax.ConstraintUnique:
		m.part = partKey
		m.terms(c.Terms, 1)
	case syntax.ConstraintCheck:
		m.part = partCheck
		m.expr(c.Expr)
	case syntax.ConstraintGenerated:
		m.part = partGenerated
		m.expr(c.Expr)
	case syntax.ConstraintForeign:
		m.part = partChild
		for i := range c.Columns {
			m.add(c.Columns[i].Name, mentionName)
		}
		m.reference(c.Reference)
	}
	m.part = partOther
}

func (m *mentioner) reference(r *syntax.Reference) {
	m.part = partOther
	m.add(r.Table, mentionParent)
	m.part = partParent
	for i := range r.Columns {
		m.list = append(m.list, mention{Name: r.Columns[i].Name, kind: mentionName, part: partParent, of: r.Table.Text})
	}
}

// terms adds the terms of a key or an index, of which some may be names in the shape of strings.
func (m *mentioner) terms(list []syntax.Term, collates int) {
	for i := range list {
		n := len(m.list)
		m.expr(list[i].Expr)
		if termName(list[i].Expr, collates) != nil {
			m.list[n].kind = mentionName
		}
	}
}

// expr adds the names in an expression. A part whose names this package does not look at is one
// mention of an unknown kind. An empty list is, too: SQLite forgets the names to its left.
func (m *mentioner) expr(e *syntax.Expr) {
	if e == nil {
		return
	}
	syntax.Walk(e, func(n syntax.Node) bool {
		e, ok := n.(*syntax.Expr)
		if !ok {
			return false
		}
		name := syntax.Name{Span: e.Span, Text: e.Text, Quote: e.Quote}
		window := e.Call != nil && (e.Call.Filter != nil || e.Call.Over != nil)
		switch {
		case e.Query != nil, e.Op == syntax.OpInTable, e.Op == syntax.OpRaise, e.Op == syntax.OpIn && len(e.List) == 0, window:
			m.add(name, mentionUnknown)
			return false
		case e.Op == syntax.OpString:
			m.add(name, mentionString)
		case e.Op == syntax.OpColumn:
			name.Span = e.NameSpan()
			if m.add(name, mentionName); len(e.Path) > 0 {
				last := &m.list[len(m.list)-1]
				last.kind, last.table = mentionMember, e.Path[len(e.Path)-1]
			}
		}
		return true
	})
}

// is reports whether the token spells a name.
func (m *mention) is(name string) bool { return EqualFold(m.Text, name) }

// isTruth reports whether the token is the word TRUE or FALSE.
func (m *mention) isTruth() bool { return m.Quote == 0 && truthWord(m.Text) }

// inExpression reports whether the mention is a name in an expression that is evaluated.
func (m *mention) inExpression() bool {
	if m.kind != mentionName && m.kind != mentionMember {
		return false
	}
	return m.part == partCheck || m.part == partGenerated || m.part == partTerm || m.part == partWhere
}

// isRowid reports whether a name is one of the rowid where no column has it.
func isRowid(name string) bool {
	return EqualFold(name, "rowid") || EqualFold(name, "oid") || EqualFold(name, "_rowid_")
}

// none is the index of no column.
const none = -1
