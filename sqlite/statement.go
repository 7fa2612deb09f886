package sqlite

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/exec"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/sqlitefile"
)

// A kind says what runs a statement.
type kind uint8

const (
	kindQuery       kind = iota // a compiled query
	kindChange                  // a compiled INSERT, UPDATE or DELETE
	kindSchema                  // sqlitefile.Tx.Exec
	kindTransaction             // the connection
	kindPragma                  // a pragma
	kindVacuum                  // sqlitefile.DB.Compact
	kindUnsupported
)

// A unit is the first statement of a text.
type unit struct {
	*syntax.Parsed
	sql  string // of the statement; the whole text if there is no other
	rest string // of the text; "" if there is no other statement
	once bool   // it must not be kept in the cache
}

// parse reads the first statement of a text. Its Statement is nil if there is none.
func parse(sql string) (*unit, error) {
	p, failed := syntax.Parse(sql)
	if failed != nil {
		return nil, &Error{Code: CodeError, Extended: CodeError, Message: failed.Message}
	}
	u := &unit{Parsed: p, sql: sql}
	if p.Statement == nil {
		return u, nil
	}
	if next, failed := syntax.Parse(sql[p.Tail:]); failed != nil || next.Statement != nil {
		u.sql, u.rest = sql[:p.Tail], sql[p.Tail:]
	}
	return u, nil
}

// kind returns what runs the statement.
func (u *unit) kind() kind {
	switch u.Statement.(type) {
	case *syntax.Select:
		if u.Explain != syntax.ExplainProgram {
			return kindQuery
		}
	case *syntax.Insert, *syntax.Update, *syntax.Delete:
		if u.Explain == syntax.ExplainNone {
			return kindChange
		}
	case *syntax.CreateTable, *syntax.CreateVirtual, *syntax.CreateIndex, *syntax.CreateView, *syntax.CreateTrigger, *syntax.Drop, *syntax.Alter:
		if u.Explain == syntax.ExplainNone {
			return kindSchema
		}
	case *syntax.Transaction, *syntax.Savepoint:
		if u.Explain == syntax.ExplainNone {
			return kindTransaction
		}
	case *syntax.Pragma:
		if u.Explain == syntax.ExplainNone {
			return kindPragma
		}
	case *syntax.Vacuum:
		if u.Explain == syntax.ExplainNone {
			return kindVacuum
		}
	}
	return kindUnsupported
}

// unsupported returns the error for a statement that nothing runs.
func (u *unit) unsupported() error {
	what := "EXPLAIN"
	if u.Explain == syntax.ExplainNone {
		what = strings.ToUpper(firstWord(u.sql[u.Statement.Bounds().Start:]))
	}
	return &bind.UnsupportedError{What: what}
}

func firstWord(sql string) string {
	for i := range len(sql) {
		if c := sql[i] | 0x20; c < 'a' || c > 'z' {
			return sql[:i]
		}
	}
	return sql
}

// compile compiles a query or a change.
func (u *unit) compile(rx *sqlitefile.Rx) (*statement, error) {
	if e := rx.Info().Encoding; e != "UTF-8" {
		return nil, &bind.UnsupportedError{What: "a database in " + e}
	}
	c, err := catalog.Read(rx)
	if err != nil {
		return nil, err
	}
	s := &statement{sql: u.sql, cookie: c.Cookie, params: make([]record.Value, u.Parameters), names: u.Names}
	if u.kind() == kindQuery {
		s.query, err = exec.Compile(c, u.sql, u.Parsed)
	} else {
		s.change, err = exec.CompileChange(c, u.sql, u.Parsed)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// A statement is a compiled statement with the state of its run.
type statement struct {
	query  *exec.Statement // or
	change *exec.Change
	sql    string
	cookie uint32 // of the schema that it was compiled for
	params []record.Value
	names  []syntax.Parameter
	cancel atomic.Bool
	row    Row
}

// columns returns the columns of the result; none if the statement returns no rows.
func (s *statement) columns() []bind.Column {
	if s.query == nil {
		return s.change.Columns
	}
	return s.query.Columns
}

// cancelWith cancels the statement with ctx, until the function that it returns is called.
func (s *statement) cancelWith(ctx context.Context) (end func()) {
	s.cancel.Store(false)
	stop := context.AfterFunc(ctx, func() { s.cancel.Store(true) })
	return func() {
		if !stop() { // the function may still run: leave it a flag of its own
			s.forget()
		}
	}
}

// forget keeps the statement out of the cache.
func (s *statement) forget() { s.sql = "" }

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
	mu   sync.Mutex
	free map[string][]*statement
}

// maxCached is how many texts a cache keeps, and maxFree how many statements of a text.
const (
	maxCached = 1000
	maxFree   = 64
)

// take returns a statement of a text that was compiled for a schema, or nil.
func (c *cache) take(sql string, cookie uint32) *statement {
	c.mu.Lock()
	defer c.mu.Unlock()
	for list := c.free[sql]; len(list) > 0; list = c.free[sql] {
		s := list[len(list)-1]
		c.free[sql] = list[:len(list)-1]
		if s.cookie == cookie {
			return s
		}
	}
	return nil
}

// peek returns what runs the statements of a text, if the cache has one.
func (c *cache) peek(sql string) (k kind, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.free[sql]
	if len(list) == 0 {
		return 0, false
	}
	if list[0].query != nil {
		return kindQuery, true
	}
	return kindChange, true
}

// put gives a statement back.
func (c *cache) put(s *statement) {
	if s.query != nil {
		s.query.Close()
	} else {
		s.change.Close()
	}
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

// clear forgets all statements.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.free)
}
