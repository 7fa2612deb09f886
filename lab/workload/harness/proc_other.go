//go:build unix && !linux

package harness

import "github.com/foliofs/folio/lab/workload"

func readProc(*workload.Use) {}
