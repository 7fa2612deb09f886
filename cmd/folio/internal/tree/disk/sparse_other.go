//go:build !linux && !darwin

package disk

import "errors"

func (f *fileHandle) seekData(off, size int64) (int64, error) { return 0, errors.ErrUnsupported }

func (f *fileHandle) seekHole(off, size int64) (int64, error) { return 0, errors.ErrUnsupported }
