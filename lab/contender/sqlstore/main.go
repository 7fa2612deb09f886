// Contender sqlstore keeps trees in SQLite through SQL, over the drivers that were tried in 2022
// and can be had. Those whose names clash with them are in sqlstore-other.
package main

import (
	_ "modernc.org/sqlite"

	"github.com/foliofs/folio/lab/contender/sqlstore/tree"
	"github.com/foliofs/folio/lab/workload/harness"
)

var apis = tree.APIs("sqlite", "modernc")

func main() {
	harness.Main(harness.Contender{Name: "sqlstore", Module: "github.com/foliofs/folio", APIs: apis})
}
