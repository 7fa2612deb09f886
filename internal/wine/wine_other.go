//go:build !windows

package wine

// Here reports whether this process runs under Wine.
func Here() bool { return false }
