package archive

import (
	"io"
	"os"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
)

// Open opens the source at path; "-" is a tar archive on stdin.
func Open(path string, stdin io.Reader, o *tree.Options) (tree.Source, error) {
	o = o.OrDefault()
	if path == "-" {
		return openStream("standard input", stdin, nil, o), nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return disk.OpenDir(path, o)
	}
	if !info.Mode().IsRegular() {
		return openPipe(path, o), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	src, err := openFile(f, info, o)
	if err != nil {
		f.Close()
	}
	return src, err
}
