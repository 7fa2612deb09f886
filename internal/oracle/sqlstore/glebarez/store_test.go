package glebarez

import (
	"testing"

	_ "github.com/glebarez/go-sqlite"

	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
)

var driver = &suite.Driver{Name: "sqlite"}

func TestStore(t *testing.T) { driver.TestStore(t) }
