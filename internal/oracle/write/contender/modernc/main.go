// Contender modernc writes through modernc.org/sqlite.
package main

import (
	"errors"

	"modernc.org/sqlite"

	"github.com/foliofs/folio/internal/oracle/write/bench"
	"github.com/foliofs/folio/internal/oracle/write/bench/sqldb"
)

func main() {
	d := sqldb.Driver{Name: "sqlite", DSN: dsn, Busy: busy}
	bench.Main(bench.Contender{Name: "modernc", Open: d.Open})
}

func dsn(o bench.Options) string {
	return "file:" + o.File() + "?_txlock=immediate&_pragma=busy_timeout(60000)&_pragma=synchronous(" + o.Durability + ")"
}

// sqliteBusy is SQLITE_BUSY, in the low byte of each extended code.
const sqliteBusy = 5

func busy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqliteBusy
}
