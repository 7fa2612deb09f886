package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/foliofs/folio/store"
	"github.com/foliofs/folio/store/check"
)

// Check lets SQLite check the database, and then checks the volume in it, as package check describes.
func (s *Store) Check(ctx context.Context) (*store.Report, error) {
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
}

func (f *feeder) run() error {
	steps := []struct {
		query string
		feed  func(rows *sql.Rows) error
	}{
		{fmt.Sprintf("PRAGMA integrity_check(%d)", store.MaxProblems), f.integrity},
		{"SELECT mode, nlink, uid, gid, size, holes, mtime_ns, ctime_ns, atime_ns, rdev, ino FROM node ORDER BY ino", f.node},
		{"SELECT parent, name, ino, type FROM entry ORDER BY parent, name", f.entry},
		{"SELECT id, length(bytes) FROM data ORDER BY id", f.data},
		{"SELECT ino, name FROM xattr ORDER BY ino, name", f.xattr},
		{"SELECT ino FROM orphan ORDER BY ino", f.orphan},
	}
	for _, step := range steps {
		if err := f.table(step.query, step.feed); err != nil {
			return err
		}
	}
	f.checker.Finish()
	for i := range f.report.Problems {
		if err := f.checker.SetPath(&f.report.Problems[i], f.nameOf); err != nil {
			return err
		}
	}
	return nil
}

// table calls feed for each row. Corruption ends it, and so does a table that is missing, as that of orphans may be.
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
	if err := rows.Scan(r.dests[:]...); err != nil {
		return err
	}
	f.checker.Node(nodeOf(store.Ino(r.numbers[nodeColumns-1]), r.numbers[:]))
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
	err := rows.Scan(&id, &size)
	if err == nil {
		f.checker.Data(id, size)
	}
	return err
}

func (f *feeder) xattr(rows *sql.Rows) error {
	var ino int64
	var name string
	err := rows.Scan(&ino, &name)
	if err == nil {
		f.checker.Xattr(store.Ino(ino), name)
	}
	return err
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
