package machine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/foliofs/folio/internal/oracle/judge"
)

// A conn is the side of C SQLite.
type conn struct {
	conn  *judge.Conn
	stmts map[string]*judge.Stmt
	depth int // of savepoints
}

func newConn(name string) (*conn, error) {
	c, err := judge.Open(name)
	return &conn{conn: c, stmts: make(map[string]*judge.Stmt)}, err
}

func (c *conn) Close() error {
	if c == nil {
		return nil
	}
	for _, s := range c.stmts {
		_ = s.Close()
	}
	return c.conn.Close()
}

// do runs a statement that is prepared once.
func (c *conn) do(sql string, args ...any) (changed, last int64, err error) {
	s := c.stmts[sql]
	if s == nil {
		if s, err = c.conn.Prepare(sql); err != nil {
			return 0, 0, err
		}
		c.stmts[sql] = s
	}
	return s.Run(args...)
}

func (c *conn) update(fn func() error) error {
	return c.bracket("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK", fn)
}

func (c *conn) nested(fn func() error) error {
	c.depth++
	name := fmt.Sprint("s", c.depth)
	defer func() { c.depth-- }()
	return c.bracket("SAVEPOINT "+name, "RELEASE "+name, "ROLLBACK TO "+name+"; RELEASE "+name, fn)
}

func (c *conn) bracket(begin, commit, rollback string, fn func() error) error {
	if err := c.conn.Exec(begin); err != nil {
		return err
	}
	if err := fn(); err != nil {
		return errors.Join(err, c.conn.Exec(rollback))
	}
	return c.conn.Exec(commit)
}

// exec looks at the schema first. Otherwise C would refuse a name without looking whether another
// connection has dropped it meanwhile.
func (c *conn) exec(sql string) error {
	if _, err := c.conn.Strings(ctx, "SELECT count(*) FROM sqlite_schema"); err != nil {
		return err
	}
	return c.conn.Exec(sql)
}

func marks(n int) string { return strings.Repeat(", ?", n)[2:] }

func (c *conn) insert(t *table, values []any) (int64, error) {
	_, last, err := c.do("INSERT INTO "+t.name+" VALUES("+marks(len(values))+")", values...)
	if err != nil || t.keyed() {
		last = 0
	}
	return last, err
}

func (c *conn) insertRowid(t *table, rowid int64, values []any) error {
	if t.alias >= 0 {
		_, err := c.insert(t, withAlias(t, rowid, values))
		return err
	}
	sql := "INSERT INTO " + t.name + "(rowid"
	for _, x := range t.columns {
		sql += ", " + x.name
	}
	_, _, err := c.do(sql+") VALUES(?, "+marks(len(values))+")", append([]any{rowid}, values...)...)
	return err
}

func withAlias(t *table, rowid int64, values []any) []any {
	values = append([]any{}, values...)
	values[t.alias] = rowid
	return values
}

// assignments are those of UPDATE to all columns.
func assignments(t *table) string {
	sql := "UPDATE " + t.name + " SET "
	for i, x := range t.columns {
		if i > 0 {
			sql += ", "
		}
		sql += x.name + " = ?"
	}
	return sql
}

func (c *conn) replace(t *table, rowid int64, values []any) (int64, error) {
	if t.alias >= 0 {
		values = withAlias(t, rowid, values)
	}
	n, _, err := c.do(assignments(t)+" WHERE rowid = ?", append(append([]any{}, values...), rowid)...)
	return n, err
}

func (c *conn) set(t *table, rowid int64, column int, value any) (int64, error) {
	n, _, err := c.do("UPDATE "+t.name+" SET "+t.columns[column].name+" = ? WHERE rowid = ?", value, rowid)
	return n, err
}

func (c *conn) put(t *table, rowid int64, values []any) error {
	n, err := c.replace(t, rowid, values)
	if err == nil && n == 0 {
		err = c.insertRowid(t, rowid, values)
	}
	return err
}

func (c *conn) remove(t *table, rowid int64) (int64, error) {
	n, _, err := c.do("DELETE FROM "+t.name+" WHERE rowid = ?", rowid)
	return n, err
}

func (c *conn) removeRange(t *table, low, high int64) (int64, error) {
	n, _, err := c.do("DELETE FROM "+t.name+" WHERE rowid BETWEEN ? AND ?", low, high)
	return n, err
}

// where finds the rows whose key begins with n values.
func (t *table) where(n int) string {
	sql := " WHERE "
	for i, k := range t.key[:n] {
		if i > 0 {
			sql += " AND "
		}
		sql += fmt.Sprintf("%s = ? COLLATE %s", t.columns[k.column].name, k.collation)
	}
	return sql
}

// putKey does not look for the row itself: only the table knows how its affinity converts a value.
func (c *conn) putKey(t *table, values []any) error {
	key, set := "", ""
	for _, k := range t.key {
		key += fmt.Sprintf(", %s COLLATE %s", t.columns[k.column].name, k.collation)
	}
	for _, x := range t.columns {
		set += fmt.Sprintf(", %[1]s = excluded.%[1]s", x.name)
	}
	_, _, err := c.do("INSERT INTO "+t.name+" VALUES("+marks(len(values))+") ON CONFLICT("+key[2:]+") DO UPDATE SET "+set[2:], values...)
	return err
}

func (c *conn) removeKey(t *table, key []any) (int64, error) {
	n, _, err := c.do("DELETE FROM "+t.name+t.where(len(key)), key...)
	return n, err
}

// rows reads a table in the order of its key.
func (c *conn) rows(t *table) ([]string, error) {
	exprs := []string{"rowid"}
	if t.keyed() {
		exprs[0] = "0"
	}
	from, err := c.conn.Scan(ctx, judge.Table{Name: t.name, WithoutRowid: t.keyed()})
	if err != nil {
		return nil, err
	}
	for _, x := range t.columns {
		exprs = append(exprs, x.name)
	}
	return c.list(exprs, from)
}

// entries reads an index in its order.
func (c *conn) entries(t *table, x *index) ([]string, error) {
	exprs := []string{"rowid"}
	if t.keyed() {
		exprs[0] = "0"
	}
	for _, k := range x.terms {
		exprs = append(exprs, t.columns[k.column].name)
	}
	return c.list(exprs, t.name+" INDEXED BY "+x.name)
}

func (c *conn) list(exprs []string, from string) (list []string, err error) {
	for values, err := range c.conn.Select(ctx, exprs, from) {
		if err != nil {
			return nil, err
		}
		list = append(list, textOf(values[0].Int, values[1:]))
	}
	return list, nil
}
