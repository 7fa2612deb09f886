package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/sqlitefile"
)

// makeFolder makes the database by the bulk loader. SQLite's drivers come first where they take
// part.
func makeFolder(f *workload.Folder, path string, progress func(rows int)) error {
	return sqlitefile.Build(context.Background(), path, nil, func(b *sqlitefile.Builder) error {
		if err := b.Create(workload.FolderSchema); err != nil {
			return err
		}
		t, err := b.Table("folder_paths")
		if err != nil {
			return err
		}
		for id := int64(1); id <= int64(f.Rows); id++ {
			if err := t.Append(id, id, f.Path(id)); err != nil {
				return err
			}
			if id%10000 == 0 {
				progress(int(id))
			}
		}
		return nil
	})
}

// lookups is the one database that all goroutines read.
type lookups struct{ db *sqlitefile.DB }

func openLookups(j *workload.Job) (workload.Lookups, error) {
	db, err := sqlitefile.Open(j.DB, &sqlitefile.Options{ReadOnly: true})
	return &lookups{db}, err
}

func (l *lookups) Close() error { return l.db.Close() }

func (l *lookups) Reader(string) (workload.Reader, error) {
	r := &reader{db: l.db, ctx: context.Background()}
	r.getFn, r.findFn = r.get, r.find
	return r, nil
}

// A reader keeps the functions that it gives to View, and their results.
type reader struct {
	db     *sqlitefile.DB
	ctx    context.Context
	one    *sqlitefile.Rx // of the one transaction that Begin began; nil where each read has its own
	id     int64
	path   string
	buf    []byte
	getFn  func(*sqlitefile.Rx) error
	findFn func(*sqlitefile.Rx) error
}

var errNoRow = errors.New("no row")

func (r *reader) get(rx *sqlitefile.Rx) error {
	t, err := rx.Table("folder_paths")
	if err != nil {
		return err
	}
	row, ok, err := t.Get(r.id)
	if err != nil {
		return err
	}
	if !ok {
		return errNoRow
	}
	path, err := row.Bytes(1)
	r.buf = append(r.buf, path...)
	return err
}

func (r *reader) find(rx *sqlitefile.Rx) error {
	ix, err := rx.Index("sqlite_autoindex_folder_paths_1")
	if err != nil {
		return err
	}
	id, ok, err := ix.Find(r.path)
	if err == nil && !ok {
		err = errNoRow
	}
	r.id = id
	return err
}

func (r *reader) Path(id int64, buf []byte) ([]byte, error) {
	r.id, r.buf = id, buf
	err := r.view(r.getFn)
	return r.buf, err
}

func (r *reader) ID(path string) (int64, error) {
	r.path = path
	err := r.view(r.findFn)
	return r.id, err
}

// view calls fn in a transaction of its own, or in the one transaction if it has begun.
func (r *reader) view(fn func(*sqlitefile.Rx) error) error {
	if r.one == nil {
		return r.db.View(r.ctx, fn)
	}
	return fn(r.one)
}

func (r *reader) Begin() (err error) {
	r.one, err = r.db.BeginView(r.ctx)
	return err
}

func (r *reader) End() error {
	r.one.End()
	r.one = nil
	return nil
}

func (r *reader) Settings() (settings map[string]string, err error) {
	err = r.db.View(r.ctx, func(rx *sqlitefile.Rx) error {
		settings = map[string]string{"page_size": strconv.Itoa(rx.Info().PageSize)}
		return nil
	})
	return settings, err
}

func (r *reader) Prepares() int64 { return 0 }

func (r *reader) Close() error { return nil }
