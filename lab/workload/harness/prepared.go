package harness

import "errors"

// A query is a statement to prepare, with the kinds of its columns.
type query struct {
	text    string
	columns []Kind
}

// prepared is a connection with its statements.
type prepared struct {
	conn  Conn
	stmts []Stmt
	raw   int64 // statements that ran without being kept
}

// prepareAll prepares statements on a connection, which it closes if one fails.
func prepareAll(c Conn, queries ...query) (prepared, error) {
	p := prepared{conn: c}
	for _, q := range queries {
		s, err := c.Prepare(q.text, q.columns)
		if err != nil {
			return p, errors.Join(err, p.Close())
		}
		p.stmts = append(p.stmts, s)
	}
	return p, nil
}

// Settings reads the settings of the connection.
func (p *prepared) Settings() (map[string]string, error) { return readSettings(p.conn) }

// Prepares counts the statements that were prepared.
func (p *prepared) Prepares() int64 { return int64(len(p.stmts)) + p.raw }

// closeStmts closes the statements, but not the connection.
func (p *prepared) closeStmts() error {
	var errs []error
	for _, s := range p.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Close closes the statements, and the connection.
func (p *prepared) Close() error { return errors.Join(p.closeStmts(), p.conn.Close()) }
