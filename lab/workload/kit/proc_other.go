//go:build unix && !linux

package kit

func readProc(*system) {}
