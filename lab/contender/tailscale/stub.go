//go:build !pinned

package main

import (
	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

// main runs without the driver. It is built when the user chose no version.
func main() {
	harness.Main(harness.Contender{
		Name: "tailscale",
		APIs: []workload.API{harness.Missing("sql", "tailscale/sqlite", "choose a version, as tailscale@latest")},
	})
}
