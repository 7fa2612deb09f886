//go:build !windows

package runner

const exeSuffix = ""
