//go:build cgo

package mattn

import (
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
)

var driver = &suite.Driver{Name: "sqlite3"}

func TestStore(t *testing.T) { driver.TestStore(t) }
