//go:build !unix

package pgstore

import "net"

// isQuiet cannot tell here.
func isQuiet(net.Conn) bool { return false }
