//go:build !linux

package machine

// memoryDir is "": no directory in memory is known.
func memoryDir() string { return "" }
