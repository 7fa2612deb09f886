package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/sqlitefile"
)

var durabilities = map[workload.Group]sqlitefile.Durability{
	workload.None: sqlitefile.DurabilityOff, workload.Consistent: sqlitefile.DurabilityNormal, workload.Durable: sqlitefile.DurabilityFull,
}

// synchronous are the numbers that PRAGMA synchronous has for the engine's durabilities.
var synchronous = map[sqlitefile.Durability]int{sqlitefile.DurabilityOff: 0, sqlitefile.DurabilityNormal: 1, sqlitefile.DurabilityFull: 2}

// A store is a new database in WAL mode.
type store struct {
	db         *sqlitefile.DB
	durability sqlitefile.Durability
	ctx        context.Context
}

func newStore(j *workload.Job, schema []string) (s store, err error) {
	d, ok := durabilities[j.Group]
	if !ok {
		return s, fmt.Errorf("no durability for group %q", j.Group)
	}
	s = store{durability: d, ctx: context.Background()}
	path := filepath.Join(j.Dir, "test.db")
	s.db, err = sqlitefile.Open(path, &sqlitefile.Options{Create: true, Durability: d, JournalMode: sqlitefile.JournalWAL})
	if err != nil {
		return s, err
	}
	for _, text := range schema {
		if err := s.db.Exec(s.ctx, text); err != nil {
			return s, err
		}
	}
	return s, nil
}

// Settings are the engine's in SQLite's words.
func (s store) Settings() (map[string]string, error) {
	mode, err := s.db.JournalMode(s.ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]string{"synchronous": strconv.Itoa(synchronous[s.durability]), "page_size": strconv.Itoa(s.db.Stats().PageSize)}
	if mode == sqlitefile.JournalWAL {
		out["journal_mode"] = "wal"
	}
	return out, nil
}

// Busy is 0: a writer that does not get its turn within the timeout ends the run.
func (s store) Busy() int64 { return 0 }

// Close closes the database.
func (s store) Close() error { return s.db.Close() }
