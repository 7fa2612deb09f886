//go:build !linux

package osfile

func (d *description) unchanging() bool { return false }
