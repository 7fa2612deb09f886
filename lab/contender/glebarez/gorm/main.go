// Contender gorm drives github.com/glebarez/sqlite through GORM, as the published comparison did.
package main

import (
	"context"
	"database/sql"

	gosqlite "github.com/glebarez/go-sqlite"
	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Main(harness.Contender{
		Name: "gorm", Module: "github.com/glebarez/sqlite",
		APIs: []workload.API{harness.Driver{Open: open, Busy: harness.Busy[*gosqlite.Error]}.SQL(
			"gorm", "glebarez/sqlite through GORM", "prepared is GORM's PrepareStmt, which looks the statement up by its text at every call",
		)},
	})
}

// open opens a database whose pool has one connection. The second handle is for prepared
// statements.
func open(path string, access harness.Access) (harness.Conn, error) {
	db, err := gorm.Open(sqlite.Open(harness.DSN(path, access)), &gorm.Config{Logger: logger.Discard, SkipDefaultTransaction: true})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	return &conn{pool, db, db.Session(&gorm.Session{PrepareStmt: true})}, nil
}

type conn struct {
	pool         *sql.DB
	db, prepared *gorm.DB
}

func (c *conn) Raw(query string, columns []workload.Kind, args []workload.Value, row func(workload.Row) error) error {
	return (&stmt{db: c.db, query: query, columns: columns}).Run(args, row)
}

// Prepare prepares nothing yet: GORM does so when the statement is first run, and keeps it.
func (c *conn) Prepare(query string, columns []workload.Kind) (harness.Stmt, error) {
	return &stmt{db: c.prepared, query: query, columns: columns}, nil
}

func (c *conn) Close() error { return c.pool.Close() }

// A stmt is a text that is given to GORM again and again.
type stmt struct {
	db      *gorm.DB
	query   string
	columns []workload.Kind
	call    harness.Call
}

func (s *stmt) Run(args []workload.Value, row func(workload.Row) error) error {
	list := s.call.Args(args)
	if row == nil {
		return s.db.WithContext(context.Background()).Exec(s.query, list...).Error
	}
	rows, err := s.db.WithContext(context.Background()).Raw(s.query, list...).Rows()
	if err != nil {
		return err
	}
	s.call.Aim(s.columns)
	return s.call.Take(rows, row)
}

func (s *stmt) Close() error { return nil }
