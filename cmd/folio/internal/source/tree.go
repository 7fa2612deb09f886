package source

import (
	"context"
	"os"
	"path/filepath"
)

// A treeSource is a file on disk, whatever it is: the entry "." and, if it is a directory, all that is in it.
type treeSource struct {
	dir  *dirHandle // the one that it lies in, or itself
	name string     // in dir; "." for dir itself
	o    *Options
}

// OpenTree opens what is at path as it is: a directory, or a single file, which is not taken for an archive. A
// symbolic link at the end of path is that file.
func OpenTree(path string, o *Options) (Source, error) {
	if o == nil {
		o = &Options{}
	}
	at, name := filepath.Dir(path), filepath.Base(path)
	if last := path[len(path)-1]; name == "." || name == ".." || os.IsPathSeparator(last) {
		at, name = path, "."
	}
	dir, err := openRoot(at)
	if err != nil {
		return nil, err
	}
	if _, err := dir.lstat(name); err != nil {
		dir.release()
		return nil, pathError(path, err)
	}
	return &treeSource{dir: dir, name: name, o: o}, nil
}

func (s *treeSource) OnDisk() bool { return true }

func (s *treeSource) Close() error {
	s.dir.release()
	return nil
}

// Size adds up the sizes of all files. It sees the tree at another moment than Walk.
func (s *treeSource) Size(ctx context.Context) (bytes int64, ok bool) {
	m := measure{o: s.o, seen: make(map[FileID]bool)}
	ok = m.file(ctx, s.dir, s.name, 0)
	return m.bytes, ok
}

func (s *treeSource) Walk(ctx context.Context, fn func(*Entry) error) error {
	return run(ctx, s.o, false, func(p *pipeline) error {
		w := &walker{pipeline: p, o: s.o, seen: make(map[FileID]string)}
		defer w.close()
		st, err := s.dir.lstat(s.name)
		if err == nil {
			err = w.visitFile(s.dir, s.name, ".", &st)
		}
		if err != nil {
			return entryError(".", changed(err))
		}
		return w.finish()
	}, fn)
}
