//go:build !unix

package runner

import "os"

func peakMemory(*os.ProcessState) *int64 { return nil }
