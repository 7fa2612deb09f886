package source

import (
	"context"
	"os"
	"path/filepath"
)

// A Tree is a file on disk and, if it is a directory, all that is in it. The file is the entry ".".
// A walk opens each directory by its name within the one above, never by a path: depth has no
// limit, and a rename meanwhile cannot lead it elsewhere.
type Tree struct {
	dir  *dirHandle // the directory that the file lies in, or the file itself
	name string     // in dir; "." for dir itself
	o    *Options
}

// OpenDir opens the directory at path, through symbolic links.
func OpenDir(path string, o *Options) (*Tree, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = pathError(path, ErrNotDir)
	}
	if err != nil {
		return nil, err
	}
	root, err := openRoot(path)
	if err != nil {
		return nil, err
	}
	return &Tree{dir: root, name: ".", o: o.orDefault()}, nil
}

// OpenTree opens the file at path, which may be a directory. It does not take a file for an
// archive. A symbolic link at the end of path is the file.
func OpenTree(path string, o *Options) (Source, error) {
	t, err := OpenFile(path, o)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// OpenFile is OpenTree for a caller that wants a Tree.
func OpenFile(path string, o *Options) (*Tree, error) {
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
	return &Tree{dir: dir, name: name, o: o.orDefault()}, nil
}

// OnDisk implements Source.
func (t *Tree) OnDisk() bool { return true }

// Close implements Source.
func (t *Tree) Close() error {
	t.dir.release()
	return nil
}

// Walk implements Source.
func (t *Tree) Walk(ctx context.Context, fn func(*Entry) error) error {
	return run(ctx, t.o, false, func(p *pipeline) error {
		w := &walker{pipeline: p, o: t.o, seen: make(map[FileID]string)}
		defer w.close()
		st, err := t.dir.lstat(t.name)
		if err == nil {
			err = w.visitFile(t.dir, t.name, ".", &st)
		}
		if err != nil {
			return WrapEntry(".", changed(err))
		}
		return w.finish()
	}, fn)
}
