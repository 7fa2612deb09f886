package modernc

import (
	"testing"

	_ "modernc.org/sqlite"

	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
)

var driver = &suite.Driver{Name: "sqlite"}

func TestStore(t *testing.T) { driver.TestStore(t) }
