//go:build !linux && !darwin && !windows

package osfile

func renameNoReplace(from, to string) error { return renameByLink(from, to) }
