// Package tree keeps trees in SQLite through SQL: a volume on package store/sqlstore, and the file system of 2022 as it was published, each over any
// driver of database/sql.
package tree

import "github.com/foliofs/folio/lab/workload"

// A driver is one of database/sql, by the name under which it registers.
type driver string

// APIs are both ways over a driver. Title is what people call it.
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
