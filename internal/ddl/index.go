package ddl

import (
	"fmt"
	"strings"
)

// Values of IndexedColumn.Column that are not the index of a column.
const (
	Expression = -1 // an expression, or a name that Resolve has not seen yet
	Rowid      = -2 // the rowid of the row
)

// An IndexedColumn is a term of an index or key.
type IndexedColumn struct {
	Column    int    // index in Table.Columns, or Expression or Rowid
	Name      string // of the column, "" for an expression
	Expr      string // as written, with COLLATE if it has one; "" in constraints of columns, and for a rowid
	Collation string // as written; once resolved, that of the column or BINARY where none was
	Desc      bool   // DESC was given. Databases with a schema format below 4 ignore it.

	named bool // Name is one
	quote byte // around it
	at    int  // offset of the term
}

// An Index is a parsed CREATE INDEX.
type Index struct {
	Name    string
	Schema  string // "main" in CREATE INDEX main.i, "" if not given
	Table   string
	Unique  bool
	Columns []IndexedColumn
	Where   string // the expression of a partial index, "" if there is none

	IfNotExists bool

	body string // the text from the name on
}

// SQL implements Statement.
func (x *Index) SQL() string {
	if x.Unique {
		return "CREATE UNIQUE INDEX " + x.body
	}
	return "CREATE INDEX " + x.body
}

// createIndex consumes INDEX and the rest of the statement.
func (p *parser) createIndex(unique bool) (Statement, error) {
	p.next()
	o, err := p.object("the name of an index")
	if err != nil {
		return nil, err
	}
	x := &Index{Name: o.name, Schema: o.schema, Unique: unique, IfNotExists: o.optional}
	if err = p.expect(kwOn, "ON"); err != nil {
		return nil, err
	}
	p.mentions.note(p.tok, mentionTable)
	if x.Table, err = p.name("the name of a table"); err != nil {
		return nil, err
	}
	p.mentions.enter(partTerm)
	if err = p.expect(tokLP, "("); err != nil {
		return nil, err
	}
	if x.Columns, err = p.indexTerms(1); err != nil {
		return nil, err
	}
	if err = p.expect(tokRP, ") or ,"); err != nil {
		return nil, err
	}
	if x.Where, err = p.indexWhere(); err != nil {
		return nil, err
	}
	x.body = strings.TrimSuffix(p.upTo(o.start), ";")
	return x, nil
}

// indexWhere consumes WHERE expr, if next, and returns the text of the expression.
func (p *parser) indexWhere() (string, error) {
	if !p.accept(kwWhere) {
		return "", nil
	}
	start := p.tok.start
	p.mentions.enter(partWhere)
	_, err := p.expr()
	return p.since(start), err
}

// indexTerms consumes terms with commas between them. A string with so many COLLATE operators at
// most is a name (Q10).
func (p *parser) indexTerms(collates int) (terms []IndexedColumn, err error) {
	for {
		if err = p.countTerm(); err != nil {
			return nil, err
		}
		if len(terms) == maxColumns {
			return nil, p.errorf("too many terms")
		}
		c, err := p.indexTerm(collates)
		if err != nil {
			return nil, err
		}
		terms = append(terms, c)
		if !p.accept(tokComma) {
			return terms, nil
		}
	}
}

// indexTerm consumes expr [ASC | DESC].
func (p *parser) indexTerm(collates int) (IndexedColumn, error) {
	c := IndexedColumn{Column: Expression, at: p.tok.start}
	x, err := p.expr()
	if err != nil {
		return c, err
	}
	c.Expr, c.Collation = p.since(c.at), x.collation
	if x.kind == exprName || x.kind == exprString && x.collates <= collates {
		c.Name, c.quote, c.named = x.name, x.quote, true
		p.mentions.named()
	}
	c.Desc = p.sortOrder()
	if p.tok.kind == kwNulls {
		return c, p.errorf("NULLS FIRST or LAST in an index")
	}
	return c, nil
}

// Resolve finds the columns that the terms name and fills in the collations that they inherit. It
// may be called again. It returns a *SyntaxError for a name that the table does not have.
func (x *Index) Resolve(t *Table) error {
	for i := range x.Columns {
		if err := x.Columns[i].resolve(t); err != nil {
			return err
		}
	}
	return nil
}

// resolve finds the column. A name in double quotes that is no column is a string (Q10), and TRUE
// and FALSE are constants: both are expressions.
func (c *IndexedColumn) resolve(t *Table) error {
	if c.Column == Expression && c.named {
		c.Column = t.ColumnIndex(c.Name)
		if c.Column < 0 {
			if c.quote != '"' && !(c.quote == 0 && isTruth(c.Name)) {
				return noColumnError{&SyntaxError{c.at, fmt.Sprintf("no such column %q", clip(c.Name))}}
			}
			c.Column, c.Name, c.named = Expression, "", false
		} else {
			c.Name = t.Columns[c.Column].Name
		}
	}
	if c.Collation == "" {
		c.Collation = binary
		if c.Column >= 0 {
			c.Collation = t.Columns[c.Column].Collation
		}
	}
	return nil
}
