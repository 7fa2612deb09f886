//go:build !linux && !darwin

package osfile_test

import (
	"errors"

	"github.com/foliofs/folio/internal/osfile"
)

const havePOSIX = false

func holdPOSIX(string, osfile.LockKind, int64, int64) error { return errors.ErrUnsupported }
