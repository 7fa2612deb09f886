//go:build !cgo

package main

import (
	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Main(harness.Contender{
		Name: "mattn", Module: "github.com/mattn/go-sqlite3",
		APIs: []workload.API{
			harness.Missing("sql", "mattn/go-sqlite3, database/sql", "no C compiler"),
			harness.Missing("native", "mattn/go-sqlite3, its own connections", "no C compiler"),
		},
	})
}
