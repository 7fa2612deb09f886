//go:build !linux

package runner

import (
	"github.com/foliofs/folio/lab/result"
)

func describeSystem(*result.Machine) {}

func describeDir(path string) result.Dir { return result.Dir{Path: path} }

func freeBytes(string) int64 { return -1 }
