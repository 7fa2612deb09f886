// Contender sqlstore-other is sqlstore over drivers that register the same names as those there.
package main

import (
	_ "github.com/glebarez/go-sqlite"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/foliofs/folio/lab/contender/sqlstore/tree"
	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Main(harness.Contender{
		Name: "sqlstore-other", Module: "github.com/foliofs/folio",
		APIs: append(tree.APIs("sqlite3", "ncruces"), tree.APIs("sqlite", "glebarez")...),
	})
}
