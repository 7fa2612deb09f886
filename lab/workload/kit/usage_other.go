//go:build !unix

package kit

import "io/fs"

func readSystem() system { return system{} }

func diskSize(info fs.FileInfo) int64 { return info.Size() }
