//go:build !linux && !darwin

package disk

import "os"

// Xattrs returns nothing: extended attributes are not read on these systems.
func Xattrs(*os.File) (map[string][]byte, error) { return nil, nil }
