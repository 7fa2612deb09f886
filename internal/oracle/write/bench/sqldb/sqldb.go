// Package sqldb writes through database/sql: a pool, or a connection for each goroutine, with statements that are prepared once.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/foliofs/folio/internal/oracle/write/bench"
)

// A Driver is how to reach SQLite.
type Driver struct {
	Name string                       // of the driver
	DSN  func(o bench.Options) string // a busy timeout of a minute and the durability are in it, for every connection
	Busy func(err error) bool
}

type store struct {
	Driver
	db   *sql.DB
	o    bench.Options
	busy atomic.Int64
}

// Schema makes the tables of the experiment. The engine's contender uses it as well.
var Schema = []string{
	"CREATE TABLE task (id INTEGER PRIMARY KEY, status TEXT, cmd TEXT, args TEXT, output TEXT)",
	"CREATE INDEX task_status ON task (status)",
	"CREATE TABLE item (id INTEGER PRIMARY KEY, a INTEGER, b TEXT, body TEXT)",
	"CREATE INDEX item_a ON item (a)",
	"CREATE INDEX item_b ON item (b)",
	"CREATE TABLE pair (key INTEGER PRIMARY KEY, value BLOB)",
}

// Open makes the database.
func (d Driver) Open(o bench.Options) (bench.Store, error) {
	db, err := sql.Open(d.Name, d.DSN(o))
	if err != nil {
		return nil, err
	}
	conns := o.Conns
	if conns == 0 {
		conns = o.Goroutines + 1
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	for _, text := range append([]string{"PRAGMA journal_mode = WAL"}, Schema...) {
		if _, err := db.Exec(text); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
	}
	return &store{Driver: d, db: db, o: o}, nil
}

func (s *store) Busy() int64 { return s.busy.Load() }

func (s *store) Close() error { return s.db.Close() }

// Settings reads them back.
func (s *store) Settings() (map[string]string, error) {
	out := make(map[string]string)
	for key, query := range map[string]string{
		"version": "SELECT sqlite_version()", "page_size": "PRAGMA page_size", "cache_size": "PRAGMA cache_size",
		"journal_mode": "PRAGMA journal_mode", "synchronous": "PRAGMA synchronous", "busy_timeout": "PRAGMA busy_timeout",
	} {
		var v string
		if err := s.db.QueryRow(query).Scan(&v); err != nil {
			return nil, fmt.Errorf("%s: %w", query, err)
		}
		out[key] = v
	}
	if want := map[string]string{"off": "0", "normal": "1", "full": "2"}[s.o.Durability]; out["synchronous"] != want || out["journal_mode"] != "wal" {
		return nil, fmt.Errorf("settings are %v, want WAL and synchronous=%s", out, want)
	}
	return out, nil
}

type session struct {
	store *store
	conn  *sql.Conn // nil if the pool is shared
	stmts map[string]*sql.Stmt
}

const (
	insert    = "INSERT INTO task (status, cmd, args, output) VALUES (?, ?, ?, ?)"
	setStatus = "UPDATE task SET status = ? WHERE id = ?"
	setOutput = "UPDATE task SET output = ? WHERE id = ?"
	remove    = "DELETE FROM task WHERE id = ?"
	put       = "INSERT OR REPLACE INTO pair VALUES (?, ?)"
	taskSum   = "SELECT count(*), coalesce(sum(id), 0), coalesce(sum(length(output)), 0) FROM task"
	pairSum   = "SELECT count(*), coalesce(sum(key), 0), coalesce(sum(length(value)), 0) FROM pair"
)

func (s *store) Session() (bench.Session, error) {
	out := &session{store: s, stmts: make(map[string]*sql.Stmt)}
	prepare := s.db.PrepareContext
	if s.o.Conns == 0 {
		var err error
		if out.conn, err = s.db.Conn(context.Background()); err != nil {
			return nil, err
		}
		prepare = out.conn.PrepareContext
	}
	for _, text := range []string{insert, setStatus, setOutput, remove, put} {
		stmt, err := prepare(context.Background(), text)
		if err != nil {
			return nil, err
		}
		out.stmts[text] = stmt
	}
	return out, nil
}

// exec runs a statement until it is not refused for others' sake.
func (s *session) exec(text string, args ...any) (sql.Result, error) {
	for {
		result, err := s.stmts[text].Exec(args...)
		if err != nil && s.store.Driver.Busy(err) {
			s.store.busy.Add(1)
			continue
		}
		return result, err
	}
}

func (s *session) Insert(t *bench.Task) error {
	result, err := s.exec(insert, t.Status, t.Cmd, t.Args, t.Output)
	if err == nil {
		t.ID, err = result.LastInsertId()
	}
	return err
}

// one executes a statement that must concern one row.
func (s *session) one(text string, args ...any) error {
	result, err := s.exec(text, args...)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err == nil && n != 1 {
		err = fmt.Errorf("%s: %d rows, want 1", strings.Fields(text)[0], n)
	}
	return err
}

func (s *session) SetStatus(id int64, status string) error { return s.one(setStatus, status, id) }

func (s *session) SetOutput(id int64, output string) error { return s.one(setOutput, output, id) }

func (s *session) Delete(id int64) error { return s.one(remove, id) }

// Put stores a value.
func (s *session) Put(key int64, value []byte) error { return s.one(put, key, value) }

// Load stores rows in one transaction.
func (s *session) Load(rows []bench.Row) error {
	tx, err := s.store.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	stmt, err := tx.Prepare("INSERT INTO item VALUES (?, ?, ?, ?)")
	if err != nil {
		return err
	}
	for i := range rows {
		if _, err := stmt.Exec(rows[i].ID, rows[i].A, rows[i].B, rows[i].Body); err != nil {
			return err
		}
	}
	return errors.Join(stmt.Close(), tx.Commit())
}

func (s *session) Sum() (sum bench.Sum, err error) {
	query := taskSum
	if s.store.o.Work == "put" {
		query = pairSum
	}
	err = s.store.db.QueryRow(query).Scan(&sum.Count, &sum.IDs, &sum.Output)
	return sum, err
}

func (s *session) Close() error {
	var errs []error
	for _, stmt := range s.stmts {
		errs = append(errs, stmt.Close())
	}
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	return errors.Join(errs...)
}
