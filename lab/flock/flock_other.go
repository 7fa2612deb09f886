//go:build !unix || aix || solaris

package flock

import (
	"errors"
	"os"
)

func try(*os.File) (bool, error) { return false, errors.ErrUnsupported }
