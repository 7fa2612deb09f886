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

func openLookups(j *workload.Job) (workload.Queries, error) {
	db, err := sqlitefile.Open(j.DB, &sqlitefile.Options{ReadOnly: true})
	return &lookups{db}, err
}

func (l *lookups) Close() error { return l.db.Close() }

// Querier takes one of the two statements of the lookups. Both modes are the same, as there is
// nothing to prepare.
func (l *lookups) Querier(s *workload.Statement, _ string) (workload.Querier, error) {
	r := &reader{db: l.db, ctx: context.Background()}
	switch s.SQL {
	case workload.PathOf.SQL:
		r.look = r.get
	case workload.IDOf.SQL:
		r.look = r.find
	default:
		return nil, errors.ErrUnsupported
	}
	return r, nil
}

// A reader keeps the function that it gives to View, with its arguments.
type reader struct {
	db   *sqlitefile.DB
	ctx  context.Context
	one  *sqlitefile.Rx // of the one transaction that Begin began; nil where each read has its own
	look func(*sqlitefile.Rx) error
	arg  workload.Value
	take func(workload.Row) error
	hit  hit
}

// A hit is the row of an answer, which has one column.
type hit struct {
	id   int64
	path []byte
}

func (h *hit) Int(int) int64 { return h.id }

func (h *hit) Bytes(int) []byte { return h.path }

func (r *reader) Query(args []workload.Value, take func(workload.Row) error) error {
	r.arg, r.take = args[0], take
	if r.one != nil {
		return r.look(r.one)
	}
	return r.db.View(r.ctx, r.look)
}

func (r *reader) get(rx *sqlitefile.Rx) error {
	t, err := rx.Table("folder_paths")
	if err != nil {
		return err
	}
	row, ok, err := t.Get(r.arg.Int)
	if err != nil || !ok {
		return err
	}
	if r.hit.path, err = row.Bytes(1); err != nil {
		return err
	}
	return r.take(&r.hit)
}

func (r *reader) find(rx *sqlitefile.Rx) error {
	ix, err := rx.Index("sqlite_autoindex_folder_paths_1")
	if err != nil {
		return err
	}
	id, ok, err := ix.Find(r.arg.Text)
	if err != nil || !ok {
		return err
	}
	r.hit.id = id
	return r.take(&r.hit)
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
