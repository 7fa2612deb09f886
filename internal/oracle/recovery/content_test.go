package recovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/internal/oracle/ours"
	"github.com/foliofs/folio/sqlitefile"
)

// A content is the content of a database: the version of its mark, and a digest of its schema and
// of all tables.
type content struct {
	version int64
	sum     string
}

// noVersion is that of a database without tables.
const noVersion = -1

func (c content) String() string { return fmt.Sprintf("version %d, digest %x", c.version, c.sum) }

// digestObject adds an entry of sqlite_schema, without its root.
func digestObject(d *judge.Digest, typ, name, table, sql string) {
	var values []judge.Value
	for _, s := range []string{typ, name, table, sql} {
		values = append(values, judge.Value{Kind: judge.Text, Bytes: []byte(s)})
	}
	d.Row(0, values)
}

// recoverC lets C SQLite open a database, and returns its content. Its integrity_check must find
// nothing.
func recoverC(path string) (c content, err error) {
	conn, err := judge.Open(path)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := conn.Exec(fmt.Sprintf("PRAGMA busy_timeout=%d; PRAGMA synchronous=OFF", patience.Milliseconds())); err != nil {
		return c, err
	}
	if c, err = contentC(conn); err != nil {
		return c, err
	}
	problems, err := conn.Strings(context.Background(), "PRAGMA integrity_check")
	if err == nil && !slices.Equal(problems, []string{"ok"}) {
		err = fmt.Errorf("integrity_check: %v", problems)
	}
	return c, err
}

func contentC(conn *judge.Conn) (c content, err error) {
	ctx := context.Background()
	d := judge.NewDigest()
	c.version = noVersion
	for row, err := range conn.Rows(ctx, "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY name") {
		if err != nil {
			return c, err
		}
		digestObject(d, fmt.Sprint(row[0]), fmt.Sprint(row[1]), fmt.Sprint(row[2]), fmt.Sprint(row[3]))
	}
	tables, err := conn.Tables(ctx)
	if err != nil {
		return c, err
	}
	slices.SortFunc(tables, func(a, b judge.Table) int { return cmp.Compare(a.Name, b.Name) })
	for _, t := range tables {
		if err := digestC(conn, d, t); err != nil {
			return c, fmt.Errorf("%s: %w", t.Name, err)
		}
		if t.Name == "mark" {
			for row, err := range conn.Rows(ctx, "SELECT version FROM mark") {
				if err != nil {
					return c, err
				}
				c.version, _ = row[0].(int64)
			}
		}
	}
	c.sum = d.Sum()
	return c, nil
}

func digestC(conn *judge.Conn, d *judge.Digest, t judge.Table) error {
	ctx := context.Background()
	from, err := conn.Scan(ctx, t)
	if err != nil {
		return err
	}
	exprs := []string{"0"}
	if !t.WithoutRowid {
		exprs[0] = "rowid"
	}
	for _, c := range t.Columns {
		exprs = append(exprs, judge.Quote(c.Name))
	}
	for row, err := range conn.Select(ctx, exprs, from) {
		if err != nil {
			return err
		}
		d.Row(row[0].Int, row[1:])
	}
	return nil
}

// recoverOurs lets our engine open a database, and returns its content. Check must find nothing.
func recoverOurs(path string) (c content, err error) {
	db, err := sqlitefile.Open(path, &sqlitefile.Options{Create: true, Durability: sqlitefile.DurabilityOff, BusyTimeout: patience})
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ctx := context.Background()
	if err := db.View(ctx, func(rx *sqlitefile.Rx) (err error) { c, err = contentOurs(rx); return err }); err != nil {
		return c, err
	}
	report, err := db.Check(ctx, nil)
	if err == nil && !report.OK() {
		err = fmt.Errorf("check: %v", report.Problems)
	}
	return c, err
}

func contentOurs(rx *sqlitefile.Rx) (c content, err error) {
	d := judge.NewDigest()
	c.version = noVersion
	objects, err := rx.Objects()
	if err != nil {
		return c, err
	}
	slices.SortFunc(objects, func(a, b sqlitefile.Object) int { return cmp.Compare(a.Name, b.Name) })
	for _, o := range objects {
		digestObject(d, o.Type, o.Name, o.Table, o.SQL)
	}
	for _, o := range objects {
		if o.Type != "table" {
			continue
		}
		if err := digestOurs(rx, d, o.Name, &c); err != nil {
			return c, fmt.Errorf("%s: %w", o.Name, err)
		}
	}
	c.sum = d.Sum()
	return c, nil
}

func digestOurs(rx *sqlitefile.Rx, d *judge.Digest, name string, c *content) error {
	t, err := rx.Table(name)
	if err != nil {
		return err
	}
	var values []judge.Value
	for row, err := range t.All() {
		if err != nil {
			return err
		}
		if values, err = ours.AppendRow(values[:0], &row, func(int) bool { return true }); err != nil {
			return err
		}
		if name == "mark" {
			c.version = values[1].Int
		}
		rowid := int64(0)
		if !t.WithoutRowid() {
			rowid = row.Rowid()
		}
		d.Row(rowid, values)
	}
	return nil
}
