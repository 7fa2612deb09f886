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
		Name: "crawshaw", Module: "crawshaw.io/sqlite",
		APIs: []workload.API{{Name: "native", Title: "crawshaw.io/sqlite", Kind: "sql", SQLite: none}},
	})
}
