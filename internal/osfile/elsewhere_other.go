//go:build !linux

package osfile

func (d *description) elsewhere() bool { return false }
