package ddl

// A mention is a token of a statement that names a table or a column, or may do so.
type mention struct {
	token
	kind  mentionKind
	part  part
	table token // of mentionMember: the name of the table before the last dot
	of    token // in partParent: the name of the parent table
	index int   // of mentionColumn: which column the token defines
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
	partDefault        // DEFAULT
	partTerm           // the terms of an index
	partWhere          // WHERE of an index
	partChild          // the columns after FOREIGN KEY
	partParent         // the columns after REFERENCES
)

// A mentioner keeps the mentions of a statement in the order of the text. The nil mentioner keeps
// none.
type mentioner struct {
	list []mention
	part part
	of   token
}

// mention returns the kind of mention that a name or string in an expression is.
func (t token) mention() mentionKind {
	if t.kind == tokString {
		return mentionString
	}
	return mentionName
}

// note keeps a mention.
func (m *mentioner) note(t token, kind mentionKind) {
	if m != nil {
		m.list = append(m.list, mention{token: t, kind: kind, part: m.part, of: m.of})
	}
}

// noteColumn keeps the definition of a column.
func (m *mentioner) noteColumn(t token, index int) {
	if m != nil {
		m.list = append(m.list, mention{token: t, kind: mentionColumn, index: index})
	}
}

// noteMember keeps TABLE.COLUMN, of which first is the first token and end the end of the last.
func (m *mentioner) noteMember(sql string, first token, end int) {
	if m == nil {
		return
	}
	table, column := first, first
	for column.end < end {
		dot := scan(sql, column.end)
		table, column = column, scan(sql, dot.end)
	}
	m.list = append(m.list, mention{token: column, kind: mentionMember, part: m.part, table: table})
}

// named makes a name of the latest mention, which is a string where only a name makes sense.
func (m *mentioner) named() {
	if m != nil {
		m.list[len(m.list)-1].kind = mentionName
	}
}

// refer sets the parent table of the columns that follow.
func (m *mentioner) refer(parent token) {
	if m != nil {
		m.of = parent
	}
}

// enter sets the part that is being read, and returns the one before.
func (m *mentioner) enter(p part) (before part) {
	if m == nil {
		return partOther
	}
	before, m.part = m.part, p
	return before
}

// is reports whether the token spells a name.
func (m *mention) is(sql, name string) bool { return EqualFold(Unquote(sql[m.start:m.end]), name) }

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
