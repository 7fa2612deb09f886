package serve

import (
	"io/fs"
	"path"
	"strings"

	"github.com/foliofs/folio"
)

// maxRootLinks is how many symbolic links the path of a directory leads through at most.
const maxRootLinks = 40

// realDir returns the path without symbolic links of a directory that is served. A link may lead
// anywhere in the volume.
func realDir(vol *folio.Volume, dir string) (string, error) {
	done, todo := ".", strings.Split(dir, "/")
	for links := 0; len(todo) > 0; {
		next := path.Join(done, todo[0])
		todo = todo[1:]
		info, err := vol.Lstat(next)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		to, err := vol.Readlink(next)
		if err != nil {
			return "", err
		}
		if links++; links > maxRootLinks {
			return "", &fs.PathError{Op: "serve", Path: dir, Err: folio.ErrTooManyLinks}
		}
		todo = append(strings.Split(to, "/"), todo...)
		if strings.HasPrefix(to, "/") {
			return "", &fs.PathError{Op: "serve", Path: dir, Err: folio.ErrEscapes}
		}
	}
	return done, nil
}
