package tree

import (
	"context"
	"database/sql"
	"io/fs"
	"path/filepath"

	"github.com/foliofs/folio/internal/oracle/published"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

// A tree2022 is the table of entries in a database with a log.
type tree2022 struct {
	db *sql.DB
	fs *published.FS
}

func (d driver) published(j *workload.Job) (workload.Tree, error) {
	db, err := sql.Open(string(d), harness.URI(filepath.Join(j.Dir, "test.db")))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // whose synchronous is set below
	for _, pragma := range []string{"PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL"} {
		if _, err := db.Exec(pragma); err != nil {
			_ = db.Close()
			return nil, err
		}
	}
	f, err := published.New(context.Background(), db)
	return &tree2022{db, f}, err
}

func (t *tree2022) Import(src fs.FS) error { return t.fs.Merge(context.Background(), src) }
func (t *tree2022) FS() (fs.FS, error)     { return t.fs, nil }
func (t *tree2022) Close() error           { return t.db.Close() }

func (t *tree2022) Settings() (map[string]string, error) {
	return map[string]string{"sync": "log"}, nil
}
