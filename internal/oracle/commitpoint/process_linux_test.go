package commitpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

// The test's program is the process that commits as well, if it is started with this variable.
const processVariable = "FOLIO_COMMITPOINT"

// strace without -f follows the first thread only, and that is where everything happens.
func init() { runtime.LockOSThread() }

func TestMain(m *testing.M) {
	part := strings.Split(os.Getenv(processVariable), "|")
	if len(part) < 5 {
		os.Exit(m.Run())
	}
	if err := process(setting{engine: part[0], mode: part[1], durability: part[2], begun: part[3] == "begun"}, part[4]); err != nil {
		fmt.Println("broken:", err)
	}
}

// A setting is one way to commit.
type setting struct {
	engine     string // "ours" or "c"
	mode       string // of PRAGMA journal_mode
	durability string // of PRAGMA synchronous
	begun      bool   // the connection has committed before
}

// A connection is one of either engine to a table t.
type connection interface {
	insert() error
	count() (int, error)
	close() error
}

// markers are the system calls around the commit.
const beginMarker, endMarker = "/folio-commit-begins", "/folio-commit-ends"

// process commits, once between the markers and once behind them, and says what came of it.
func process(s setting, path string) error {
	c, err := s.connect(path)
	if err != nil {
		return err
	}
	if s.begun {
		if err := c.insert(); err != nil {
			return err
		}
	}
	before, err := c.count()
	if err != nil {
		return err
	}
	_ = unix.Access(beginMarker, 0)
	err = c.insert()
	_ = unix.Access(endMarker, 0)
	fmt.Println("commit:", answer(err))
	after, err := c.count()
	if err != nil {
		fmt.Println("count:", answer(err))
	} else {
		fmt.Println("count:", after-before)
	}
	fmt.Println("next:", answer(c.insert()))
	_ = c.close()
	return nil
}

// answer is the result of a commit in one line.
func answer(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, sqlitefile.ErrFailed):
		return "unknown " + err.Error()
	}
	return "failed " + err.Error()
}

func (s setting) connect(path string) (connection, error) {
	if s.engine == "c" {
		c, err := judge.Open(path)
		if err != nil {
			return nil, err
		}
		return cConnection{c}, c.Exec("PRAGMA journal_mode=" + s.mode + "; PRAGMA synchronous=" + s.durability + "; PRAGMA busy_timeout=50; SELECT 1 FROM t")
	}
	o := &sqlitefile.Options{JournalMode: journalModes[s.mode], Durability: durabilities[s.durability], BusyTimeout: 50 * time.Millisecond}
	db, err := sqlitefile.Open(path, o)
	return ourConnection{db}, err
}

var (
	journalModes = map[string]sqlitefile.JournalMode{
		"delete": sqlitefile.JournalDelete, "truncate": sqlitefile.JournalTruncate, "persist": sqlitefile.JournalPersist, "wal": sqlitefile.JournalWAL,
	}
	durabilities = map[string]sqlitefile.Durability{
		"off": sqlitefile.DurabilityOff, "normal": sqlitefile.DurabilityNormal, "full": sqlitefile.DurabilityFull, "extra": sqlitefile.DurabilityExtra,
	}
)

type cConnection struct{ *judge.Conn }

func (c cConnection) insert() error { return c.Exec("INSERT INTO t VALUES (1)") }
func (c cConnection) close() error  { return c.Close() }

func (c cConnection) count() (int, error) { return countRows(c.Conn) }

func countRows(c *judge.Conn) (n int, err error) {
	rows, err := c.Strings(context.Background(), "SELECT CAST(count(*) AS TEXT) FROM t")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(rows[0])
}

type ourConnection struct{ db *sqlitefile.DB }

func (c ourConnection) insert() error {
	return c.db.Update(context.Background(), func(tx *sqlitefile.Tx) error {
		t, err := tx.Table("t")
		if err == nil {
			_, err = t.Insert(1)
		}
		return err
	})
}

func (c ourConnection) count() (n int, err error) {
	err = c.db.View(context.Background(), func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("t")
		if err != nil {
			return err
		}
		for _, err := range t.All() {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}

func (c ourConnection) close() error { return c.db.Close() }
