package ncruces

import (
	"testing"

	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
)

var driver = &suite.Driver{Name: "sqlite3"}

func TestStore(t *testing.T) { driver.TestStore(t) }
