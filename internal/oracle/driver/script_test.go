package driver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"

	"github.com/foliofs/folio/sqlite"
)

// A script is statements by connections, one a line: "2: BEGIN" is for the second one. They run on
// a database in WAL mode.
type script struct {
	t        *testing.T
	dbs      [2]*sql.DB // ours, and go-sqlite3's
	contexts context.Context
	conns    map[string][2]*sql.Conn
}

func newScript(t *testing.T, options string) *script {
	t.Helper()
	s := &script{t: t, contexts: t.Context(), conns: make(map[string][2]*sql.Conn)}
	for i, name := range []string{"folio", "sqlite3"} {
		db, err := sql.Open(name, filepath.Join(t.TempDir(), name)+"?_journal_mode=wal&_busy_timeout=100"+options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		s.dbs[i] = db
	}
	return s
}

// conn returns the connections of a name.
func (s *script) conn(name string) [2]*sql.Conn {
	if c, ok := s.conns[name]; ok {
		return c
	}
	var pair [2]*sql.Conn
	for i, db := range s.dbs {
		c, err := db.Conn(s.contexts)
		if err != nil {
			s.t.Fatal(err)
		}
		pair[i] = c
		s.t.Cleanup(func() { c.Close() })
	}
	s.conns[name] = pair
	return pair
}

// run runs the lines on both sides and compares what they return.
func (s *script) run(lines string) {
	s.t.Helper()
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, statement, ok := strings.Cut(line, ": ")
		if !ok || len(name) > 2 {
			name, statement = "1", line
		}
		pair := s.conn(name)
		ours, theirs := answer(s.contexts, pair[0], statement), answer(s.contexts, pair[1], statement)
		if ours != theirs {
			s.t.Errorf("%s: %s\n  folio   %s\n  sqlite3 %s", name, statement, ours, theirs)
		}
	}
}

// answer runs a statement and describes its result.
func answer(ctx context.Context, c *sql.Conn, statement string) string {
	rows, err := c.QueryContext(ctx, statement)
	if err != nil {
		return describe(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return describe(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%q", names)
	for rows.Next() {
		values := make([]any, len(names))
		dest := make([]any, len(names))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return describe(err)
		}
		b.WriteString("\n    ")
		for _, v := range values {
			switch v := v.(type) {
			case time.Time:
				fmt.Fprintf(&b, " time %s", v.UTC().Format(time.RFC3339Nano))
			case []byte:
				fmt.Fprintf(&b, " x%x", v)
			default:
				fmt.Fprintf(&b, " %T %v", v, v)
			}
		}
	}
	if err := rows.Err(); err != nil {
		return strings.TrimPrefix(b.String()+"\n"+describe(err), fmt.Sprintf("%q\n", names))
	}
	return b.String()
}

func describe(err error) string {
	var ours *sqlite.Error
	var theirs sqlite3.Error
	switch {
	case errors.As(err, &ours):
		return fmt.Sprintf("error %d %d %s", ours.Code, ours.Extended, ours.Message)
	case errors.As(err, &theirs):
		return fmt.Sprintf("error %d %d %s", theirs.Code, theirs.ExtendedCode, theirs.Error())
	}
	return "error " + err.Error()
}
