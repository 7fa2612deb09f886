//go:build !linux && !darwin

package disk

import "testing"

// allocated cannot tell here.
func allocated(*testing.T, string) int64 { return 0 }
