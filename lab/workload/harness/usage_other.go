//go:build !unix

package harness

import "io/fs"

func readSystem() system { return system{} }

func diskSize(info fs.FileInfo) int64 { return info.Size() }
