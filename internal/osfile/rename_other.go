//go:build !linux && !darwin

package osfile

func renameNoReplace(from, to string) error { return renameByLink(from, to) }
