// Package tree keeps trees in SQLite through SQL: a volume on package store/sqlstore, and the
// published file system of 2022, each over any driver of database/sql.
package tree

import "github.com/foliofs/folio/lab/workload"

// A driver is one of database/sql, by the name under which it registers.
type driver string

// APIs returns the APIs of both over a driver. Title names the driver.
func APIs(name, title string) []workload.API {
	d := driver(name)
	return []workload.API{
		{
			Name: title, Title: "folio, a volume through SQL (" + title + ")", Kind: "volume", Ours: true,
			Groups: []workload.Group{workload.Consistent, workload.Durable},
			Tree:   d.volume,
		},
		{
			Name: title + "-2022", Title: "the file system in SQLite of 2022, as published (" + title + ")", Kind: "volume",
			Groups: []workload.Group{workload.Consistent},
			Tree:   d.published,
			Notes:  []string{"a listing loads all contents; a file at the root cannot be stored"},
		},
	}
}
