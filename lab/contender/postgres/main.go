// Contender postgres drives a PostgreSQL server through github.com/jackc/pgx, for the workloads
// that write tasks. It takes part when the address of a server is given.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Main(harness.Contender{
		Name: "postgres", Module: "github.com/jackc/pgx/v5",
		APIs: []workload.API{{
			Name: "native", Title: "PostgreSQL, pgx", Kind: "server", Groups: []workload.Group{workload.Consistent, workload.Durable},
			Notes: []string{"only the time includes the server's work; processor time, memory and written bytes do not"},
			Rows:  openRows, Tables: []*workload.Table{workload.TaskTable},
		}},
	})
}

// store is a schema of its own on the server.
type store struct {
	address string
	schema  string
	commit  string // synchronous_commit
	table   *workload.Table
	first   *pgx.Conn
}

func openRows(j *workload.Job, t *workload.Table) (workload.Rows, error) {
	s := &store{address: j.Server, schema: fmt.Sprintf("folio_lab_%d", os.Getpid()), commit: "off", table: t}
	if j.Group == workload.Durable {
		s.commit = "on"
	}
	c, err := pgx.Connect(context.Background(), j.Server)
	if err != nil {
		return nil, err
	}
	s.first = c
	for _, query := range append([]string{"CREATE SCHEMA " + s.schema, "SET search_path = " + s.schema}, t.Schema("BIGINT")...) {
		if _, err := c.Exec(context.Background(), query); err != nil {
			return nil, fmt.Errorf("%s: %w", query, err)
		}
	}
	return s, nil
}

// Busy is 0: rows are locked, not tables, and no two writers want the same.
func (s *store) Busy() int64 { return 0 }

// Close removes everything from the server.
func (s *store) Close() error {
	_, err := s.first.Exec(context.Background(), "DROP SCHEMA "+s.schema+" CASCADE")
	return errors.Join(err, s.first.Close(context.Background()))
}

func (s *store) Session() (workload.RowSession, error) {
	c, err := pgx.Connect(context.Background(), s.address)
	if err != nil {
		return nil, err
	}
	for _, query := range []string{"SET search_path = " + s.schema, "SET synchronous_commit = " + s.commit} {
		if _, err := c.Exec(context.Background(), query); err != nil {
			return nil, errors.Join(err, c.Close(context.Background()))
		}
	}
	return &session{c, s.table}, nil
}

// A session is a connection, which keeps each statement prepared.
type session struct {
	c     *pgx.Conn
	table *workload.Table
}

// one executes a statement that must concern one row.
func (s *session) one(query string, args ...any) error {
	tag, err := s.c.Exec(context.Background(), query, args...)
	if err == nil && tag.RowsAffected() != 1 {
		err = fmt.Errorf("%s: %d rows, want 1", query, tag.RowsAffected())
	}
	return err
}

func (s *session) Put(row []workload.Value) error {
	return s.one("INSERT INTO task VALUES ($1, $2, $3, $4, $5)", row[0].Any(), row[1].Any(), row[2].Any(), row[3].Any(), row[4].Any())
}

func (s *session) Set(key int64, column int, v workload.Value) error {
	return s.one("UPDATE task SET "+s.table.Columns[column].Name+" = $1 WHERE id = $2", v.Any(), key)
}

func (s *session) Delete(key int64) error { return s.one("DELETE FROM task WHERE id = $1", key) }

func (s *session) Each(fn func(row workload.Row) error) error {
	rows, err := s.c.Query(context.Background(), "SELECT id, status, cmd, args, output FROM task")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.id, &r.texts[1], &r.texts[2], &r.texts[3], &r.texts[4]); err != nil {
			return err
		}
		if err := fn(&r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// A row is a task.
type row struct {
	id    int64
	texts [5][]byte // by column
}

func (r *row) Int(int) int64 { return r.id }

func (r *row) Bytes(column int) []byte { return r.texts[column] }

func (s *session) Settings() (map[string]string, error) {
	out := make(map[string]string)
	for _, name := range []string{"synchronous_commit", "fsync", "server_version", "shared_buffers", "full_page_writes"} {
		var v string
		if err := s.c.QueryRow(context.Background(), "SHOW "+name).Scan(&v); err != nil {
			return nil, err
		}
		out[name] = v
	}
	return out, nil
}

func (s *session) Close() error { return s.c.Close(context.Background()) }
