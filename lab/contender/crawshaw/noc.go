//go:build !cgo

package main

import (
	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Main(harness.Contender{
		Name: "crawshaw", Module: "crawshaw.io/sqlite",
		APIs: []workload.API{harness.Missing("native", "crawshaw.io/sqlite", "no C compiler")},
	})
}
