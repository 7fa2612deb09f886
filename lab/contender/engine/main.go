// Contender engine drives sqlitefile: SQLite's file format, read and written by Folio's own engine,
// without SQL.
package main

import (
	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Main(harness.Contender{
		Name: "engine", Module: "github.com/foliofs/folio",
		APIs: []workload.API{{
			Name: "native", Title: "folio/sqlitefile, the engine", Kind: "engine", Ours: true,
			Groups:     []workload.Group{workload.None, workload.Consistent, workload.Durable},
			Notes:      []string{"there is no SQL: raw looks the table up by its name for every read, prepared does so too"},
			MakeFolder: makeFolder,

			Queries: openLookups,
			Rows:    openRows,
			Tables:  []*workload.Table{workload.TaskTable, workload.PairTable, workload.ItemTable},
		}},
	})
}
