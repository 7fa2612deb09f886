//go:build !linux && !darwin

package disk

import "os"

// SetXattr does nothing: extended attributes are not written on these systems.
func SetXattr(*os.File, string, []byte) error { return nil }

// RemoveXattr does nothing, either.
func RemoveXattr(*os.File, string) error { return nil }

// Xattrs returns nothing: extended attributes are not read on these systems.
func Xattrs(*os.File) (map[string][]byte, error) { return nil, nil }
