//go:build !unix

package harness

import (
	"io/fs"

	"github.com/foliofs/folio/lab/workload"
)

func readSystem(*workload.Use) {}

func diskSize(info fs.FileInfo) int64 { return info.Size() }
