//go:build !linux

package runner

import (
	"errors"

	"github.com/foliofs/folio/lab/result"
)

func describeSystem(*result.Machine) {}

func describeDir(path string) result.Dir { return result.Dir{Path: path} }

func freeBytes(string) int64 { return -1 }

func evict(string) error {
	return errors.New("--lookup.cache cold: this system has no way to drop a file from its cache; leave it warm")
}
