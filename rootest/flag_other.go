//go:build unix && !linux

package rootest

// furtherFlags are flags of open that are only compared on Linux.
var furtherFlags []int
