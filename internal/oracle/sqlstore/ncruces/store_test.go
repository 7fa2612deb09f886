//go:build unix

package ncruces

import (
	"testing"

	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
)

var driver = &suite.Driver{
	Name: "sqlite3",
	Full: func(path string) (name, dsn string) { return "sqlite3", "file:" + path + "?_pragma=max_page_count(60)" },
}

func Test(t *testing.T) { driver.Test(t) }

func TestRoots(t *testing.T) { driver.TestRoots(t) }

func TestHolder(t *testing.T) { driver.TestHolder(t) }

func TestSync(t *testing.T) { driver.TestSync(t) }
