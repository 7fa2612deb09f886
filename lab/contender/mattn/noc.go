//go:build !cgo

package main

import (
	"errors"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/kit"
)

func main() {
	none := func() (string, []string, error) { return "", nil, errors.New("no C compiler") }
	kit.Main(kit.Contender{
		Name: "mattn", Module: "github.com/mattn/go-sqlite3",
		APIs: []workload.API{
			{Name: "sql", Title: "mattn/go-sqlite3, database/sql", Kind: "sql", SQLite: none},
			{Name: "native", Title: "mattn/go-sqlite3, its own connections", Kind: "sql", SQLite: none},
		},
	})
}
