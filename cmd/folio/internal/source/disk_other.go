//go:build !linux && !darwin

package source

import (
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	openFlags          = os.O_RDONLY
	seekData, seekHole = -1, -1
)

var errNoMore = fs.ErrInvalid

// statOf describes the file name in the directory dir. The portable fs.FileInfo tells no links and
// owners, and of an identity only the path of a directory.
func statOf(info fs.FileInfo, dir, name string) fileStat {
	t := info.ModTime()
	st := fileStat{mode: info.Mode(), links: 1, size: info.Size(), mtime: t, atime: t, ctime: t}
	if info.IsDir() {
		h := fnv.New64a()
		_, _ = io.WriteString(h, filepath.Join(dir, name))
		st.id.Ino = h.Sum64()
	}
	return st
}

func xattrsOf(*os.File) (map[string][]byte, error) { return nil, nil }
