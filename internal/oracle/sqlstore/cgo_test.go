//go:build cgo

package sqlstore_test

import (
	_ "github.com/mattn/go-sqlite3"

	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
)

func init() { drivers = append(drivers, &suite.Driver{Name: "sqlite3"}) }
