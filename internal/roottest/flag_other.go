//go:build unix && !linux

package roottest

// furtherFlags are flags of open that are only compared on Linux.
var furtherFlags []int
