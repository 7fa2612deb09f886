//go:build unix

package modernc

import (
	"testing"

	_ "modernc.org/sqlite"

	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
)

var driver = &suite.Driver{
	Name: "sqlite",
	Full: func(path string) (name, dsn string) { return "sqlite", "file:" + path + "?_pragma=max_page_count(60)" },
}

func Test(t *testing.T) { driver.Test(t) }

func TestRoots(t *testing.T) { driver.TestRoots(t) }

func TestHolder(t *testing.T) { driver.TestHolder(t) }

func TestSync(t *testing.T) { driver.TestSync(t) }
