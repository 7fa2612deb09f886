// Contender mattn writes through github.com/mattn/go-sqlite3.
package main

import (
	"errors"

	"github.com/mattn/go-sqlite3"

	"github.com/foliofs/folio/internal/oracle/write/bench"
	"github.com/foliofs/folio/internal/oracle/write/bench/sqldb"
)

func main() {
	d := sqldb.Driver{Name: "sqlite3", DSN: dsn, Busy: busy}
	bench.Main(bench.Contender{Name: "mattn", Open: d.Open})
}

func dsn(o bench.Options) string {
	return "file:" + o.File() + "?_txlock=immediate&_busy_timeout=60000&_synchronous=" + o.Durability
}

func busy(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.Code == sqlite3.ErrBusy
}
