//go:build !unix

package harness

import (
	"io/fs"
	"os"

	"github.com/foliofs/folio/lab/workload"
)

func readSystem(*workload.Use) {}

func peakMemory(*os.ProcessState) *int64 { return nil }

func diskSize(info fs.FileInfo) int64 { return info.Size() }
