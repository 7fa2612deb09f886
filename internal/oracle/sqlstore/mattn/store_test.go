//go:build cgo && unix

package mattn

import (
	"database/sql"
	"testing"

	sqlite3 "github.com/mattn/go-sqlite3"

	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
)

var driver = &suite.Driver{
	Name: "sqlite3",
	Full: func(path string) (name, dsn string) { return "sqlite3_full", path },
}

func Test(t *testing.T) { driver.Test(t) }

func TestRoots(t *testing.T) { driver.TestRoots(t) }

func TestHolder(t *testing.T) { driver.TestHolder(t) }

func TestSync(t *testing.T) { driver.TestSync(t) }

// The driver has no pragmas but its own in a DSN.
func init() {
	sql.Register("sqlite3_full", &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		_, err := c.Exec("PRAGMA max_page_count = 60", nil)
		return err
	}})
}
