// Contender files is the yardstick: plain files of the operating system, by package os and through
// an os.Root.
package main

import (
	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	groups := []workload.Group{workload.None, workload.Consistent, workload.Durable}
	notes := []string{
		"none writes in place, log-consistent writes a temporary file and renames it, durable syncs the file before and the directory after",
		"that a rename without a sync leaves one of two contents after the loss of power is a habit of file systems, not a promise",
	}
	harness.Main(harness.Contender{
		Name: "files", Module: "std",
		APIs: []workload.API{
			tasks(openOS, ways, workload.API{Name: "os", Title: "files, package os", Groups: groups, Notes: notes, Tree: tree(openOS)}),
			tasks(openRoot, ways, workload.API{Name: "root", Title: "files, os.Root", Groups: groups, Notes: notes, Tree: tree(openRoot)}),
			tasks(openOS, inPlace, workload.API{
				Name: "fsync", Title: "files, package os, synced in place", Groups: []workload.Group{workload.Durable},
				Notes: []string{"a file that is replaced so may be lost with both contents, and that a new file keeps its name is a habit of file systems"},
			}),
		},
	})
}
