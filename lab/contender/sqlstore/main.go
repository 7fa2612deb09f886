// Contender sqlstore keeps trees in SQLite through SQL: a volume on package store/sqlstore, and the file system of 2022 as it was published, each
// over the drivers that were tried then.
package main

import (
	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/kit"
)

// A driver is one of database/sql.
type driver struct{ name, title string }

var drivers = []driver{{"sqlite", "modernc"}}

func main() {
	c := kit.Contender{Name: "sqlstore", Module: "github.com/foliofs/folio"}
	for _, d := range drivers {
		c.APIs = append(c.APIs, workload.API{
			Name: d.title, Title: "folio, a volume through SQL (" + d.title + ")", Kind: "volume", Ours: true,
			Groups: []workload.Group{workload.Consistent, workload.Durable},
			Tree:   d.volume,
		}, workload.API{
			Name: d.title + "-2022", Title: "the file system in SQLite of 2022, as published (" + d.title + ")", Kind: "volume",
			Groups: []workload.Group{workload.Consistent},
			Tree:   d.published,
			Notes:  []string{"a listing loads all contents; a file at the root cannot be stored"},
		})
	}
	kit.Main(c)
}
