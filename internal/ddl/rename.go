package ddl

import (
	"errors"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// Errors of a Renaming. Each names a statement that must stay as it is.
var (
	ErrNames   = errors.New("the names in one of its expressions are not known")
	ErrMeaning = errors.New("the new name would change what one of its expressions means")
	ErrMissed  = errors.New("SQLite would miss the INTEGER PRIMARY KEY in a UNIQUE constraint")
	errShape   = errors.New("the statement would not mean the same")
)

// A Renaming gives a table or a column a new name in the statements of a schema. It makes the texts
// that SQLite makes.
type Renaming struct {
	table  *Table // as it was
	to     string
	column int // index of the column, none for the table itself
	quoted bool
}

// RenamingTable returns the Renaming of a table.
func RenamingTable(t *Table, to string) *Renaming { return &Renaming{t, to, none, true} }

// RenamingColumn returns the Renaming of the i-th column of a table. If the new name was quoted, it
// is quoted everywhere.
func RenamingColumn(t *Table, i int, to string, quoted bool) *Renaming {
	return &Renaming{t, to, i, quoted}
}

// Table returns a CREATE TABLE of the schema as it is after the renaming, and the table that it
// declares. It returns a *SyntaxError if the result is no CREATE TABLE, ErrNames, ErrMeaning or
// ErrMissed.
func (r *Renaming) Table(create string) (sql string, t *Table, err error) {
	old, err := ParseTable(create)
	if err != nil || old.Virtual != nil {
		return create, old, err
	}
	own := EqualFold(old.Name, r.table.Name)
	if own && r.column != none && old.misses(r.column) {
		return "", nil, ErrMissed
	}
	if sql, err = r.edit(create, old, own); err != nil {
		return "", nil, err
	}
	if t, err = ParseTable(sql); err != nil {
		return "", nil, err
	}
	if len(t.Columns) != len(old.Columns) || len(t.Uniques) != len(old.Uniques) || len(t.Checks) != len(old.Checks) ||
		len(t.ForeignKeys) != len(old.ForeignKeys) || t.WithoutRowid != old.WithoutRowid || t.Strict != old.Strict {
		return "", nil, errShape
	}
	return sql, t, nil
}

// Index returns a CREATE INDEX of the schema as it is after the renaming. The table of the index
// was old and is now t. It returns a *SyntaxError if the result is no index of t, ErrNames or
// ErrMeaning.
func (r *Renaming) Index(create string, old, t *Table) (string, error) {
	sql, err := r.edit(create, old, old == r.table)
	if err != nil {
		return "", err
	}
	x, err := ParseIndex(sql)
	if err != nil {
		return "", err
	}
	return sql, x.Resolve(t)
}

// edit returns a statement after the renaming. Its expressions are about table t; own says that
// this is the table of the renaming.
func (r *Renaming) edit(create string, t *Table, own bool) (sql string, err error) {
	sql = create
	if r.column != none {
		if sql, err = fixQuotes(create, t); err != nil {
			return "", err
		}
	}
	list, err := mentionsIn(sql)
	if err != nil {
		return "", err
	}
	var edits []edit
	for _, m := range list {
		if m.kind == mentionUnknown && own {
			return "", ErrNames
		}
		place, ok := r.names(&m, t, own)
		if ok {
			e := edit{place, r.spell(sql, place)}
			if m.inExpression() && (truthWord(e.text) || place.Quote == 0 && truthWord(place.Text)) {
				return "", ErrMeaning // TRUE is a column to SQLite in some places only
			}
			edits = append(edits, e)
		} else if own && r.captures(&m) {
			return "", ErrMeaning
		}
	}
	sql = replace(sql, edits)
	again, err := mentionsIn(sql)
	if err == nil && !sameKinds(list, again) {
		err = ErrMeaning
	}
	return sql, err
}

// sameKinds reports whether two statements have the same kinds of names in the same order. A new
// name that is a keyword, such as CURRENT_DATE, can be a value in an expression.
func sameKinds(a, b []mention) bool {
	return slices.EqualFunc(a, b, func(x, y mention) bool { return x.kind == y.kind && x.part == y.part })
}

// names returns the token of a mention that gets the new name, if it has one.
func (r *Renaming) names(m *mention, t *Table, own bool) (place syntax.Name, ok bool) {
	if r.column != none {
		return m.Name, r.namesColumn(m, t, own)
	}
	switch m.kind {
	case mentionTable:
		return m.Name, own
	case mentionParent:
		return m.Name, m.is(r.table.Name)
	case mentionMember:
		return m.table, own
	}
	return m.Name, false
}

// namesColumn reports whether a mention is one of the column.
func (r *Renaming) namesColumn(m *mention, t *Table, own bool) bool {
	switch m.kind {
	case mentionColumn:
		return own && m.index == r.column
	case mentionName, mentionMember:
	default:
		return false
	}
	switch m.part {
	case partParent:
		return EqualFold(m.of, r.table.Name) && m.is(r.table.Columns[r.column].Name)
	case partOther:
		return false
	}
	i := m.resolve(t)
	return own && (i == r.column || i == Rowid && r.column == t.RowidAlias)
}

// captures reports whether a mention that does not name the column would name it by its new name.
func (r *Renaming) captures(m *mention) bool {
	if r.column == none || !m.inExpression() || !m.is(r.to) {
		return false
	}
	return r.table.ColumnIndex(r.to) < 0
}

// spell returns the new name as it takes the place of a token: in quotes if the token had any. A
// space keeps it apart from a quote.
func (r *Renaming) spell(sql string, place syntax.Name) string {
	if !r.quoted && place.Quote == 0 {
		return r.to
	}
	s := `"` + strings.ReplaceAll(r.to, `"`, `""`) + `"`
	if place.End < len(sql) && sql[place.End] == '"' {
		s += " "
	}
	return s
}

// misses reports whether SQLite misses a column in a UNIQUE constraint: one with the INTEGER
// PRIMARY KEY that comes before it, or after it in a WITHOUT ROWID table. SQLite has looked the
// column up when it still had another meaning.
func (t *Table) misses(column int) bool {
	if column != t.RowidAlias && !(t.demoted && column == t.PrimaryKey[0].Column) {
		return false
	}
	after := false
	for i := range t.Uniques {
		u := &t.Uniques[i]
		after = after || u.Primary
		named := func(c IndexedColumn) bool { return c.Column == column && c.Expr != "" }
		if !u.Primary && after == t.WithoutRowid && slices.ContainsFunc(u.Columns, named) {
			return true
		}
	}
	return false
}

// fixQuotes returns a statement whose strings have single quotes, as SQLite rewrites all statements
// before it renames a column.
func fixQuotes(sql string, t *Table) (string, error) {
	list, err := mentionsIn(sql)
	if err != nil {
		return "", err
	}
	var edits []edit
	for _, m := range list {
		if m.kind == mentionUnknown {
			return "", ErrNames
		}
		if m.kind != mentionName || !m.inExpression() || m.Quote != '"' || m.resolve(t) != none {
			continue
		}
		s := "'" + strings.ReplaceAll(m.Text, "'", "''") + "'"
		if m.End < len(sql) && sql[m.End] == '\'' {
			s += " "
		}
		edits = append(edits, edit{m.Name, s})
	}
	fixed := replace(sql, edits)
	if x, err := ParseIndex(fixed); err == nil {
		return fixed, x.Resolve(t)
	}
	return fixed, nil
}

// An edit puts a text in the place of a token.
type edit struct {
	syntax.Name
	text string
}

// replace applies edits, which are in the order of the text.
func replace(sql string, edits []edit) string {
	if len(edits) == 0 {
		return sql
	}
	var b strings.Builder
	from := 0
	for _, e := range edits {
		b.WriteString(sql[from:e.Start])
		b.WriteString(e.text)
		from = e.End
	}
	b.WriteString(sql[from:])
	return b.String()
}
