package ddl

import (
	"errors"
	"strings"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// A Script is a text of statements with semicolons between them.
type Script struct {
	sql string
	at  int // where the next statement begins
}

// NewScript returns the script of a text.
func NewScript(sql string) *Script { return &Script{sql: sql} }

// A Change is a statement of a Script.
type Change struct {
	*syntax.Parsed        // its spans are those of a part of the script
	sql            string // that part
	at             int    // where it begins
}

// Next returns the next statement, nil at the end of the text. It returns a *SyntaxError.
func (s *Script) Next() (*Change, error) {
	sql := s.sql[s.at:]
	if len(sql) > maxText {
		return nil, &SyntaxError{maxText, "statement too long"}
	}
	p, err := syntax.Parse(sql)
	if err != nil {
		return nil, errorAt(s.at, &SyntaxError{err.Offset, err.Message})
	}
	if p.Statement == nil {
		return nil, nil
	}
	c := &Change{p, sql, s.at}
	s.at += p.Tail
	return c, nil
}

// errorAt returns an error of a statement that begins at an offset.
func errorAt(at int, err error) error {
	if e, ok := errors.AsType[*SyntaxError](err); ok && e.Offset >= 0 {
		e.Offset += at
	}
	return err
}

// Create returns the object that a CREATE creates. It returns a *SyntaxError for other statements.
func (c *Change) Create() (Statement, error) {
	s, err := create(c.sql, c.Parsed)
	return s, errorAt(c.at, err)
}

// Word returns the first word of the statement in upper case.
func (c *Change) Word() string {
	text := c.sql[c.Statement.Bounds().Start:c.End]
	notLetter := func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' }
	if i := strings.IndexFunc(text, notLetter); i >= 0 {
		text = text[:i]
	}
	return strings.ToUpper(clip(text))
}

// Definition returns the definition of a column in an ALTER TABLE ADD COLUMN, as SQLite stores it.
func (c *Change) Definition(a *syntax.Alter) string {
	return strings.TrimRight(c.sql[a.Definition.Start:c.Tail], "; \t\n\v\f\r")
}
