package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/exec"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/sqlitefile"
)

// Options say how a database is opened. The zero value, and nil, are good defaults.
type Options struct {
	// Immutable is for a file that nothing changes while it is open: no lock is taken.
	Immutable bool
	// BusyTimeout is how long a query waits for locks that other connections hold; 0 means 5
	// seconds, and less than 0 not to wait.
	BusyTimeout time.Duration
	// SortMemory is how many bytes of rows a sort or the groups of a query keep in memory; 0 means
	// 64 MiB. The others go to a file without a name in the directory for temporary files.
	SortMemory int
}

// A DB is an open database. It is safe for concurrent use.
type DB struct {
	file  *sqlitefile.DB
	cache cache
}

// Open opens the database at path, which must exist.
func Open(path string, o *Options) (*DB, error) {
	if o == nil {
		o = &Options{}
	}
	f, err := sqlitefile.Open(path, &sqlitefile.Options{ReadOnly: true, Immutable: o.Immutable, BusyTimeout: o.BusyTimeout})
	if errors.Is(err, sqlitefile.ErrNeedsRecovery) && !o.Immutable {
		f, err = sqlitefile.Open(path, &sqlitefile.Options{BusyTimeout: o.BusyTimeout})
	}
	if err != nil {
		return nil, asError(err)
	}
	return &DB{file: f, cache: cache{sortMemory: o.SortMemory}}, nil
}

// Close closes the database. It waits for the queries in progress.
func (db *DB) Close() error { return db.file.Close() }

// Query runs a query and yields its rows. An error is yielded once, last, with a nil Row.
//
// A parameter of the statement takes the argument of its number; one with a name can also take a
// [sql.NamedArg]. An argument is nil, an integer of any type of Go's own, bool, float32, float64,
// string, []byte, or a time.Time.
//
// The rows come from one snapshot. A [Row] is valid until the next one, and the bytes that it
// returns without a copy until the loop ends.
func (db *DB) Query(ctx context.Context, sql string, args ...any) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		stopped := false
		err := db.file.View(ctx, func(rx *sqlitefile.Rx) error {
			return db.run(ctx, rx, sql, args, func(row *Row) bool {
				stopped = !yield(row, nil)
				return !stopped
			})
		})
		if err != nil && !stopped {
			yield(nil, asError(err))
		}
	}
}

// run runs a query in a transaction.
func (db *DB) run(ctx context.Context, rx *sqlitefile.Rx, sql string, args []any, yield func(*Row) bool) error {
	s, err := db.cache.take(rx, sql)
	if err != nil {
		return err
	}
	defer db.cache.put(s)
	if err := s.setArgs(args); err != nil {
		return err
	}
	if ctx.Done() != nil {
		defer s.cancelWith(ctx)()
	}
	if err := s.Open(rx, s.params, &s.cancel); err != nil {
		return s.failed(ctx, err)
	}
	row := &s.row
	for {
		ok, err := s.Next()
		if err != nil {
			return s.failed(ctx, err)
		}
		if !ok {
			return nil
		}
		if row.values = s.Values(); !yield(row) {
			return nil
		}
	}
}

// QueryRow runs a query and copies the columns of its first row into dest, as [Row.Scan] does. It
// reports whether there is a row.
func (db *DB) QueryRow(ctx context.Context, dest []any, sql string, args ...any) (ok bool, err error) {
	err = db.file.View(ctx, func(rx *sqlitefile.Rx) (failed error) {
		err := db.run(ctx, rx, sql, args, func(row *Row) bool {
			ok = true
			failed = row.Scan(dest...)
			return false
		})
		return errors.Join(failed, err)
	})
	return ok && err == nil, asError(err)
}

// Columns returns the names of the columns of a query, which it does not run.
func (db *DB) Columns(ctx context.Context, sql string) (names []string, err error) {
	err = db.file.View(ctx, func(rx *sqlitefile.Rx) error {
		s, err := db.cache.take(rx, sql)
		if err != nil {
			return err
		}
		defer db.cache.put(s)
		names = s.columnNames()
		return nil
	})
	return names, asError(err)
}

// A statement is a compiled statement with the state of its run.
type statement struct {
	*exec.Statement
	sql    string
	params []record.Value
	cancel atomic.Bool
	row    Row
}

// cancelWith cancels the statement with ctx, until the function that it returns is called.
func (s *statement) cancelWith(ctx context.Context) (end func()) {
	s.cancel.Store(false)
	stop := context.AfterFunc(ctx, func() { s.cancel.Store(true) })
	return func() {
		if !stop() { // the function may still run: leave it a flag of its own
			s.broken()
		}
	}
}

func (s *statement) columnNames() []string {
	names := make([]string, len(s.Columns))
	for i := range s.Columns {
		names[i] = s.Columns[i].Name
	}
	return names
}

// broken lets the cache forget a statement.
func (s *statement) broken() { s.sql = "" }

// failed returns the error of the context if that is why the statement was cancelled.
func (s *statement) failed(ctx context.Context, err error) error {
	if errors.Is(err, exec.ErrInterrupted) && ctx.Err() != nil {
		return &Error{Code: CodeInterrupt, Extended: CodeInterrupt, Message: "interrupted", err: ctx.Err()}
	}
	return err
}

// A cache keeps compiled statements by their texts. A statement that runs is not in it: a second
// one with the same text is compiled then.
type cache struct {
	sortMemory int // of its statements

	mu   sync.Mutex
	free map[string][]*statement
}

// maxCached is how many texts a cache keeps, and maxFree how many statements of a text.
const (
	maxCached = 1000
	maxFree   = 64
)

// take returns a statement for a transaction.
func (c *cache) take(rx *sqlitefile.Rx, sql string) (*statement, error) {
	cookie := rx.Info().SchemaVersion
	c.mu.Lock()
	for list := c.free[sql]; len(list) > 0; list = c.free[sql] {
		s := list[len(list)-1]
		c.free[sql] = list[:len(list)-1]
		if s.Cookie == cookie {
			c.mu.Unlock()
			return s, nil
		}
	}
	c.mu.Unlock()
	s, err := compile(rx, sql)
	if err == nil {
		s.SetSortMemory(c.sortMemory)
	}
	return s, err
}

// put gives a statement back.
func (c *cache) put(s *statement) {
	s.Close()
	if s.sql == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.free == nil || len(c.free) >= maxCached {
		c.free = make(map[string][]*statement)
	}
	if list := c.free[s.sql]; len(list) < maxFree {
		c.free[s.sql] = append(list, s)
	}
}

// compile compiles the text of one query.
func compile(rx *sqlitefile.Rx, sql string) (*statement, error) {
	p, failed := syntax.Parse(sql)
	if failed != nil {
		return nil, &Error{Code: CodeError, Extended: CodeError, Message: failed.Message}
	}
	if err := check(p, sql); err != nil {
		return nil, err
	}
	if e := rx.Info().Encoding; e != "UTF-8" {
		return nil, &bind.UnsupportedError{What: "a database in " + e}
	}
	c, err := catalog.Read(rx)
	if err != nil {
		return nil, err
	}
	s, err := exec.Compile(c, sql, p)
	if err != nil {
		return nil, err
	}
	return &statement{Statement: s, sql: sql, params: make([]record.Value, s.Parameters)}, nil
}

// check refuses statements that are no queries.
func check(p *syntax.Parsed, sql string) error {
	if p.Statement == nil {
		return fmt.Errorf("the text has no statement")
	}
	if rest, failed := syntax.Parse(sql[p.Tail:]); failed != nil || rest.Statement != nil {
		return &bind.UnsupportedError{What: "more than one statement in a text"}
	}
	switch p.Statement.(type) {
	case *syntax.Select:
		if p.Explain == syntax.ExplainProgram {
			return &bind.UnsupportedError{What: "EXPLAIN"}
		}
		return nil
	case *syntax.Pragma, *syntax.Transaction, *syntax.Savepoint, *syntax.Attach, *syntax.Detach:
		return &bind.UnsupportedError{What: strings.ToUpper(firstWord(sql[p.Statement.Bounds().Start:]))}
	}
	return errReadOnly
}

func firstWord(sql string) string {
	for i := range len(sql) {
		if c := sql[i] | 0x20; c < 'a' || c > 'z' {
			return sql[:i]
		}
	}
	return sql
}
