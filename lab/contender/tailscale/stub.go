//go:build !pinned

package main

import (
	"errors"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/kit"
)

// main is that of a program without the driver, as it is built when no version was chosen.
func main() {
	none := func() (string, []string, error) {
		return "", nil, errors.New("choose a version, as tailscale@latest")
	}
	kit.Main(kit.Contender{Name: "tailscale", APIs: []workload.API{{Name: "sql", Title: "tailscale/sqlite", Kind: "sql", SQLite: none}}})
}
