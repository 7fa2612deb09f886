package source

import (
	"io"
	"os"
)

// Open opens the source at path; "-" is a tar archive on stdin.
func Open(path string, stdin io.Reader, o *Options) (Source, error) {
	o = o.orDefault()
	if path == "-" {
		return openStream("standard input", stdin, nil, o), nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		t, err := OpenDir(path, o)
		if err != nil {
			return nil, err
		}
		return t, nil
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
