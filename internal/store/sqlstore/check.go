package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/check"
)

// Check lets SQLite check the database, and then checks the volume in it, as package check
// describes. It does not call o.Progress: SQLite does not tell how far it is.
func (s *Store) Check(ctx context.Context, _ *store.CheckOptions) (*store.Report, error) {
	r, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer r.End()
	report := new(store.Report)
	f := &feeder{ctx: ctx, rx: r, report: report, checker: check.New(report)}
	if err := f.run(); err != nil {
		return nil, err
	}
	return report, nil
}

// A feeder gives the rows of the tables to a checker.
type feeder struct {
	ctx     context.Context
	rx      *rx
	report  *store.Report
	checker *check.Checker
	rows    int // since ctx was looked at
	objects []check.Object
}

func (f *feeder) run() error {
	steps := []struct {
		query string
		feed  func(rows *sql.Rows) error
	}{
		{fmt.Sprintf("PRAGMA integrity_check(%d)", store.MaxProblems), f.integrity},
		{"SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master ORDER BY rowid", f.object},
		{nodesToCheck, f.node},
		{entriesToCheck, f.entry},
		{clonesToCheck, f.clone},
		{"SELECT id, " + lengthOfBytes + ", typeof(bytes) FROM data ORDER BY id", f.data},
		{shownToCheck, f.shown},
		{xattrsToCheck, f.xattr},
		{"SELECT ino FROM orphan ORDER BY ino", f.orphan},
	}
	for _, step := range steps {
		if err := f.table(step.query, step.feed); err != nil {
			return err
		}
	}
	if err := f.schema(); err != nil {
		return err
	}
	f.checker.Finish()
	for i := range f.report.Problems {
		if err := f.checker.SetPath(&f.report.Problems[i], f.nameOf); err != nil {
			return err
		}
	}
	return nil
}

// A column that holds a value of another kind is read as an integer all the same, and its kind is
// returned with it.
var (
	nodeNames    = []string{"mode", "nlink", "uid", "gid", "size", "holes", "mtime_ns", "ctime_ns", "atime_ns", "rdev"}
	nodesToCheck = "SELECT CAST(" + strings.Join(nodeNames, " AS INTEGER), CAST(") + " AS INTEGER), ino, typeof(" +
		strings.Join(nodeNames, ") || ' ' || typeof(") + ") FROM node ORDER BY ino"
)

// entriesToCheck gives an entry with a column of another kind a type that does not exist.
const entriesToCheck = `SELECT CAST(parent AS INTEGER), substr(CAST(name AS BLOB), 1, 1000), CAST(ino AS INTEGER), CAST(type AS INTEGER) * (typeof(name) = 'text' AND
	typeof(parent) = 'integer' AND typeof(ino) = 'integer' AND typeof(type) = 'integer') FROM entry ORDER BY parent, name`

// xattrsToCheck cuts off names that are too long.
const xattrsToCheck = `SELECT CAST(ino AS INTEGER), substr(CAST(name AS BLOB), 1, 300), CASE typeof(value) WHEN 'blob' THEN length(value)
	WHEN 'text' THEN length(CAST(value AS BLOB)) ELSE 0 END, typeof(ino), typeof(name), typeof(value) FROM xattr ORDER BY ino, name`

// clonesToCheck leaves out clones whose inodes SQL has removed, and shownToCheck gives the chunks
// of bases that show. In a volume without clones both fail, as there is no table origin.
const (
	clonesToCheck = `SELECT ino, base, CAST(chunks AS INTEGER), typeof(base) = 'integer' AND typeof(chunks) = 'integer' AND chunks BETWEEN 1 AND 268435456
		AND EXISTS (SELECT 1 FROM node WHERE node.ino = o.base AND mode >> 12 = 8) AND NOT EXISTS (SELECT 1 FROM origin AS p WHERE p.ino = o.base)
		FROM origin AS o WHERE NOT (EXISTS (SELECT 1 FROM orphan WHERE orphan.ino = o.ino) AND NOT EXISTS (SELECT 1 FROM node WHERE node.ino = o.ino))`
	shownToCheck = `SELECT (o.ino << 28) + (d.id & 268435455), CASE typeof(d.bytes) WHEN 'blob' THEN length(d.bytes) ELSE length(CAST(d.bytes AS BLOB)) END
		FROM origin AS o JOIN data AS d ON d.id >= o.base << 28 AND d.id < (o.base << 28) + o.chunks
		WHERE NOT EXISTS (SELECT 1 FROM data AS own WHERE own.id = (o.ino << 28) + (d.id & 268435455))`
)

func (f *feeder) clone(rows *sql.Rows) error {
	var ino, base, chunks int64
	var sound bool
	if err := rows.Scan(&ino, &base, &chunks, &sound); err != nil {
		return err
	}
	if !sound {
		f.checker.Damaged(store.Ino(ino), store.Damaged("inode %d shares %d chunks with inode %d, which cannot be", ino, chunks, base))
	}
	f.checker.Clone(store.Ino(ino), chunks)
	return nil
}

func (f *feeder) shown(rows *sql.Rows) error {
	var id, size int64
	err := rows.Scan(&id, &size)
	if err == nil {
		f.checker.Shown(id, size)
	}
	return err
}

// table calls feed for each row. Corruption ends it, and so does a table that is missing, as that
// of orphans may be.
func (f *feeder) table(query string, feed func(rows *sql.Rows) error) error {
	rows, err := f.rx.sql.QueryContext(bg, query)
	if err != nil {
		return f.unreadable(query, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := feed(rows); err != nil {
			f.checker.Damaged(0, fmt.Errorf("%s: %w", query, err))
		}
		if err := f.alive(); err != nil {
			return err
		}
	}
	return f.unreadable(query, rows.Err())
}

// unreadable reports an error that lies in the database, and returns any other.
func (f *feeder) unreadable(query string, err error) error {
	switch codeOf(err) {
	case codeError:
		return nil
	case codeCorrupt:
		f.checker.Damaged(0, fmt.Errorf("%s: %w", query, err))
		return nil
	}
	return explain(err)
}

// alive returns the error of the context, looking now and then.
func (f *feeder) alive() error {
	if f.rows++; f.rows%1024 != 0 {
		return nil
	}
	return f.ctx.Err()
}

func (f *feeder) integrity(rows *sql.Rows) error {
	var what string
	err := rows.Scan(&what)
	if err == nil && what != "ok" {
		f.report.Add(store.Problem{What: what})
	}
	return err
}

func (f *feeder) node(rows *sql.Rows) error {
	r := f.rx
	var kinds string
	if err := rows.Scan(append(r.dests[:], &kinds)...); err != nil {
		return err
	}
	ino, raw, odd := store.Ino(r.numbers[nodeColumns-1]), nodeRow(&r.numbers), false
	for i, kind := range strings.Fields(kinds) {
		f.kind(ino, "node", nodeNames[i], kind, "integer")
		odd = odd || kind != "integer"
	}
	f.checker.Node(ino, &raw, odd)
	return nil
}

func (f *feeder) entry(rows *sql.Rows) error {
	var parent, ino, typ int64
	var name sql.RawBytes
	if err := rows.Scan(&parent, &name, &ino, &typ); err != nil {
		return err
	}
	f.checker.Entry(store.Ino(parent), name, store.Ino(ino), typ)
	return nil
}

func (f *feeder) data(rows *sql.Rows) error {
	var id, size int64
	var kind string
	if err := rows.Scan(&id, &size, &kind); err != nil {
		return err
	}
	f.checker.Data(id, size)
	f.kind(store.Ino(id>>store.ChunkBits), "data", "bytes", kind, "blob")
	return nil
}

// kind reports a value of another kind than it must be.
func (f *feeder) kind(ino store.Ino, table, column, is, want string) {
	if is != want {
		f.checker.Odd(ino, table, column, strings.ToUpper(is))
	}
}

// object takes a row of sqlite_master.
func (f *feeder) object(rows *sql.Rows) error {
	var o check.Object
	if err := rows.Scan(&o.Type, &o.Name, &o.Table, &o.SQL); err != nil {
		return err
	}
	f.objects = append(f.objects, o)
	return nil
}

// schema looks at the rows of sqlite_master together.
func (f *feeder) schema() error {
	var version int
	if err := f.rx.sql.QueryRowContext(bg, "PRAGMA user_version").Scan(&version); err != nil {
		return explain(err)
	}
	snapshots := slices.ContainsFunc(f.objects, func(o check.Object) bool { return o.SQL == store.HistoryTables[0] })
	views, _ := check.Views(f.objects, snapshots, version >= store.CloneVersion)
	for _, what := range append(check.Additions(f.objects), views...) {
		f.report.Add(store.Problem{What: what})
	}
	return nil
}

func (f *feeder) xattr(rows *sql.Rows) error {
	var ino, size int64
	var name sql.RawBytes
	var inoKind, nameKind, valueKind string
	if err := rows.Scan(&ino, &name, &size, &inoKind, &nameKind, &valueKind); err != nil {
		return err
	}
	f.checker.Xattr(store.Ino(ino), name, size)
	f.kind(store.Ino(ino), "xattr", "ino", inoKind, "integer")
	f.kind(store.Ino(ino), "xattr", "name", nameKind, "text")
	f.kind(store.Ino(ino), "xattr", "value", valueKind, "blob")
	return nil
}

func (f *feeder) orphan(rows *sql.Rows) error {
	var ino int64
	err := rows.Scan(&ino)
	if err == nil {
		f.checker.Orphan(store.Ino(ino))
	}
	return err
}

// nameOf implements check.NameOf.
func (f *feeder) nameOf(dir, ino store.Ino) (name string, err error) {
	query := "SELECT name FROM entry WHERE parent = ? AND ino = ? ORDER BY name LIMIT 1"
	err = f.rx.sql.QueryRowContext(bg, query, int64(dir), int64(ino)).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return name, explain(err)
}
