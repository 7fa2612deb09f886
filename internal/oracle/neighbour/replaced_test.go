package neighbour

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

// A replacing puts one file in the place of another.
type replacing struct {
	name    string
	inPlace bool // the file stays, with other content
	aside   bool // the old file gets another name
	do      func(next, old string) error
}

var replacings = []replacing{
	{"mv", false, false, os.Rename},
	{"mv of both", false, true, func(next, old string) error {
		return errors.Join(os.Rename(old, old+".aside"), os.Rename(next, old))
	}},
	{"cp", true, false, func(next, old string) error {
		data, err := os.ReadFile(next)
		return errors.Join(err, os.WriteFile(old, data, 0o644))
	}},
}

// A replaceEdge is one case of a file that is replaced while C SQLite and this package have it
// open.
type replaceEdge struct {
	large    bool // some thousand pages, else a few
	cLog     bool // C SQLite has begun the log, else this package
	empty    bool // all of the log is copied when the file is replaced
	copied   bool // the new file began as a copy of the old one
	cClosing bool // C SQLite closes the old file last
}

func replaceEdges() (edges []replaceEdge) {
	for i := range 1 << 5 {
		edges = append(edges, replaceEdge{i&1 != 0, i&2 != 0, i&4 != 0, i&8 != 0, i&16 != 0})
	}
	return edges
}

// rows is how many rows of 1,000 bytes the files have.
func (e replaceEdge) rows() int {
	if e.large {
		return 8000
	}
	return 8
}

// fill gives all rows a value.
func (e replaceEdge) fill(t *testing.T, c *judge.Conn, value string) {
	t.Helper()
	must(t, c, fmt.Sprintf(`CREATE TABLE IF NOT EXISTS t(a);
		DELETE FROM t;
		WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i < %d)
		INSERT INTO t SELECT '%s' || hex(zeroblob(500)) FROM n`, e.rows(), value))
}

// make makes a file that is in WAL mode, without a log.
func (e replaceEdge) make(t *testing.T, path, value string) {
	t.Helper()
	c := dial(t, path)
	must(t, c, "PRAGMA journal_mode = WAL")
	e.fill(t, c, value)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// again writes to a file once more: SQLite counts its changes from 1, and files with the same count
// cannot be told apart.
func (e replaceEdge) again(t *testing.T, path string) {
	t.Helper()
	c := dial(t, path)
	must(t, c, "PRAGMA user_version = 1")
	must(t, c, "PRAGMA user_version = 2")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// truncate lets C SQLite copy all of the log, and waits for our readers.
func truncate(t *testing.T, c *judge.Conn) {
	t.Helper()
	for range 1000 {
		busy, err := c.Strings(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
		if err != nil {
			t.Fatal(err)
		}
		if busy[0] == "0" {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the log is in use")
}

// TestReplaced replaces a file that C SQLite and this package have open and write. Both read the
// old file on, whose log does not go into the new one; once both have closed it, both open the new
// one. C SQLite cannot be kept from copying its log into a file that was written over: there, the
// log is empty. And the log of a file with another name stays if C SQLite wrote to that file, or
// closes it last.
func TestReplaced(t *testing.T) {
	for _, way := range replacings {
		for _, e := range replaceEdges() {
			if way.inPlace && !e.empty || way.aside && (e.cClosing || e.empty) {
				continue
			}
			t.Run(fmt.Sprintf("%s %+v", way.name, e), func(t *testing.T) { e.run(t, way) })
		}
	}
}

func (e replaceEdge) run(t *testing.T, way replacing) {
	dir := t.TempDir()
	old, next := filepath.Join(dir, "old.db"), filepath.Join(dir, "next.db")
	e.make(t, old, "old")
	if e.copied {
		data, err := os.ReadFile(old)
		if err := errors.Join(err, os.WriteFile(next, data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	e.make(t, next, "new")
	e.again(t, next)
	ours, err := sqlitefile.Open(old, nil)
	if err != nil {
		t.Fatal(err)
	}
	theirs := dial(t, old)
	write := func() {
		for i := range 2 {
			if (i == 0) == e.cLog {
				must(t, theirs, "INSERT INTO t VALUES('odd')")
			} else if err := ours.Exec(t.Context(), "CREATE TABLE "+fmt.Sprintf("odd%d(a)", i)); err != nil {
				t.Error(err)
			}
		}
	}
	write()
	if e.empty {
		truncate(t, theirs)
	}
	if err := way.do(next, old); err != nil {
		t.Fatal(err)
	}
	if !way.inPlace {
		must(t, theirs, "INSERT INTO t VALUES('odd')") // C SQLite does not know
	}
	if err := ours.Exec(t.Context(), "CREATE TABLE late(a)"); err == nil && !way.inPlace {
		t.Error("a commit to a file that was replaced")
	}
	if other, err := sqlitefile.Open(old, &sqlitefile.Options{BusyTimeout: -1}); err == nil {
		e.isNew(t, other, "opened while others have the old file open")
		_ = other.Close()
	} else if strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	closeOurs := func() {
		if err := ours.Close(); err != nil && !errors.Is(err, sqlitefile.ErrMoved) {
			t.Error(err)
		}
	}
	if e.cClosing {
		closeOurs()
	}
	if err := theirs.Close(); err != nil {
		t.Error(err)
	}
	if !e.cClosing {
		closeOurs()
	}
	again, err := sqlitefile.Open(old, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.isNew(t, again, "at last")
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	c := dial(t, old)
	if lines, err := c.Strings(t.Context(), "PRAGMA integrity_check"); err != nil || len(lines) != 1 || lines[0] != "ok" {
		t.Errorf("%q, %v", lines, err)
	}
	if lines, err := c.Strings(t.Context(), "SELECT substr(a,1,3) || count(*) FROM t GROUP BY substr(a,1,3)"); err != nil || len(lines) != 1 || lines[0] != fmt.Sprint("new", e.rows()) {
		t.Errorf("%q, %v", lines, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// isNew checks that all rows are those of the new file.
func (e replaceEdge) isNew(t *testing.T, db *sqlitefile.DB, when string) {
	t.Helper()
	n := 0
	err := db.View(t.Context(), func(rx *sqlitefile.Rx) error {
		table, err := rx.Table("t")
		if err != nil {
			return err
		}
		for row, err := range table.All() {
			if err != nil {
				return err
			}
			text, err := row.Text(0)
			if err != nil || !strings.HasPrefix(text, "new") {
				return errors.Join(err, fmt.Errorf("%.10q", text))
			}
			n++
		}
		return nil
	})
	if err != nil || n != e.rows() {
		t.Errorf("%s: %d rows, %v", when, n, err)
	}
}
