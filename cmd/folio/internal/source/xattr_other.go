//go:build !linux && !darwin

package source

import "os"

// UserXattrs returns nothing: extended attributes are not read on these systems.
func UserXattrs(*os.File) (map[string][]byte, error) { return nil, nil }
