// Contender ncruces writes through github.com/ncruces/go-sqlite3.
package main

import (
	"errors"

	"github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/foliofs/folio/internal/oracle/write/bench"
	"github.com/foliofs/folio/internal/oracle/write/bench/sqldb"
)

func main() {
	d := sqldb.Driver{Name: "sqlite3", DSN: dsn, Busy: func(err error) bool { return errors.Is(err, sqlite3.BUSY) }}
	bench.Main(bench.Contender{Name: "ncruces", Open: d.Open})
}

func dsn(o bench.Options) string {
	return "file:" + o.File() + "?_txlock=immediate&_pragma=busy_timeout(60000)&_pragma=synchronous(" + o.Durability + ")"
}
