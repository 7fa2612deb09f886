package recovery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

// A writer runs steps on a database.
type writer interface {
	run(s *step) error
	close() error
}

// open opens the database of a setting as its engine does.
func (s *setting) open() (writer, error) {
	if s.Engine == "c" {
		return openC(s)
	}
	return openOurs(s)
}

// play runs all steps, and reports each version that is committed.
func (s *setting) play(w writer, done func(version int64) error) (err error) {
	for i, step := range s.steps() {
		switch {
		case step.kind == create && !s.Create:
		case step.kind == reopen:
			if err = w.close(); err == nil {
				w, err = s.open()
			}
		default:
			err = w.run(&step)
		}
		if err == nil && (step.kind.transaction() && step.kind != rollback || step.kind == create) {
			err = done(step.version)
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return w.close()
}

// A cWriter writes by C SQLite.
type cWriter struct {
	*judge.Conn
}

func openC(s *setting) (*cWriter, error) {
	c, err := judge.Open(s.Path)
	if err != nil {
		return nil, err
	}
	w := &cWriter{c}
	return w, errors.Join(
		w.Exec(fmt.Sprintf("PRAGMA page_size=%d; PRAGMA auto_vacuum=%d; PRAGMA cache_size=8", s.PageSize, s.AutoVacuum)), // spills
		w.Exec(fmt.Sprintf("PRAGMA journal_mode=%s; PRAGMA synchronous=%d; PRAGMA wal_autocheckpoint=12", s.Mode, s.Sync)))
}

func (w *cWriter) close() error { return w.Conn.Close() }

func (w *cWriter) run(s *step) error {
	switch s.kind {
	case checkpoint:
		return w.Exec("PRAGMA wal_checkpoint(" + [...]string{"PASSIVE", "FULL", "RESTART", "TRUNCATE"}[s.mode] + ")")
	case vacuum:
		return w.Exec("PRAGMA incremental_vacuum(3)")
	case compact:
		return w.Exec("VACUUM")
	case switchMode:
		return w.Exec("PRAGMA journal_mode=" + modes[s.mode])
	}
	if err := w.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := w.change(s); err != nil {
		return err
	}
	if s.kind == rollback {
		return w.Exec("ROLLBACK")
	}
	return w.Exec("COMMIT")
}

func (w *cWriter) change(s *step) error {
	switch s.kind {
	case create:
		return w.Exec(schema + "INSERT INTO mark VALUES (1, 0)")
	case createScratch:
		if err := w.Exec(createScratchSQL); err != nil {
			return err
		}
	case dropScratch:
		if err := w.Exec(dropScratchSQL); err != nil {
			return err
		}
	}
	err := w.Exec("UPDATE mark SET version = ?", s.version)
	for i := 0; i < len(s.changes) && err == nil; i++ {
		err = w.changeRow(&s.changes[i])
	}
	return err
}

const (
	createScratchSQL = "CREATE TABLE scratch (a UNIQUE, b); CREATE INDEX scratch_b ON scratch (b)"
	dropScratchSQL   = "DROP TABLE scratch"
)

func (w *cWriter) changeRow(c *change) error {
	switch c.kind {
	case putItem:
		return w.Exec("REPLACE INTO item VALUES (?, ?, ?, ?)", c.id, c.name, c.size, c.body)
	case deleteItem:
		return w.Exec("DELETE FROM item WHERE id = ?", c.id)
	case deleteItems:
		return w.Exec("DELETE FROM item WHERE id BETWEEN ? AND ?", c.id, c.id+4)
	case putWord:
		return w.Exec("REPLACE INTO word VALUES ('en', ?, ?)", fmt.Sprint(c.id), c.size)
	default:
		return w.Exec("DELETE FROM word WHERE lang = 'en' AND word = ?", fmt.Sprint(c.id))
	}
}

// An oursWriter writes by sqlitefile.
type oursWriter struct {
	*sqlitefile.DB
}

var (
	journalModes = map[string]sqlitefile.JournalMode{
		"DELETE": sqlitefile.JournalDelete, "TRUNCATE": sqlitefile.JournalTruncate,
		"PERSIST": sqlitefile.JournalPersist, "WAL": sqlitefile.JournalWAL,
	}
	durabilities = [...]sqlitefile.Durability{sqlitefile.DurabilityOff, sqlitefile.DurabilityNormal, sqlitefile.DurabilityFull, sqlitefile.DurabilityExtra}
)

func openOurs(s *setting) (*oursWriter, error) {
	db, err := sqlitefile.Open(s.Path, &sqlitefile.Options{
		Create: true, PageSize: s.PageSize, JournalMode: journalModes[s.Mode], Durability: durabilities[s.Sync], BusyTimeout: patience,
		NoMmap: s.Seed%3 == 0,
	})
	if err != nil {
		return nil, err
	}
	return &oursWriter{db}, nil
}

// patience is how long an engine waits for a lock that is held for milliseconds.
const patience = 20 * time.Second

func (w *oursWriter) close() error { return w.Close() }

var errRollback = errors.New("on purpose")

func (w *oursWriter) run(s *step) error {
	ctx := context.Background()
	switch s.kind {
	case checkpoint:
		return w.Checkpoint(ctx, sqlitefile.CheckpointMode(s.mode))
	case vacuum:
		return nil
	case compact:
		return w.Compact(ctx, nil)
	case switchMode:
		return w.SetJournalMode(ctx, journalModes[modes[s.mode]])
	}
	err := w.Update(ctx, func(tx *sqlitefile.Tx) error {
		if err := oursChange(tx, s); err != nil {
			return err
		}
		if s.kind == rollback {
			return errRollback
		}
		return nil
	})
	if s.kind == rollback && errors.Is(err, errRollback) {
		return nil
	}
	return err
}

func oursChange(tx *sqlitefile.Tx, s *step) error {
	sql := map[kind]string{create: schema, createScratch: createScratchSQL, dropScratch: dropScratchSQL}[s.kind]
	if err := tx.Exec(sql); err != nil {
		return err
	}
	mark, err := tx.Table("mark")
	if err != nil {
		return err
	}
	if err := mark.Put(1, nil, s.version); err != nil {
		return err
	}
	for i := range s.changes {
		if err := oursChangeRow(tx, &s.changes[i]); err != nil {
			return err
		}
	}
	return nil
}

func oursChangeRow(tx *sqlitefile.Tx, c *change) error {
	items, err := tx.Table("item")
	if err != nil {
		return err
	}
	words, err := tx.Table("word")
	if err != nil {
		return err
	}
	switch c.kind {
	case putItem:
		return items.Put(c.id, nil, c.name, c.size, c.body)
	case deleteItem:
		_, err = items.Delete(c.id)
	case deleteItems:
		_, err = items.DeleteRange(c.id, c.id+4)
	case putWord:
		return words.PutKey("en", fmt.Sprint(c.id), c.size)
	default:
		_, err = words.DeleteKey("en", fmt.Sprint(c.id))
	}
	return err
}
