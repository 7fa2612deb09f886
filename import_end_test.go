package folio_test

import (
	"io"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/volumetest"
)

// An endFS is a tree of which one call fails with io.EOF: opening or closing a file, asking for its
// attributes, reading a directory or a link.
type endFS struct {
	fstest.MapFS
	call, name string
}

func (f endFS) fails(call, name string) error {
	if f.call == call && f.name == name {
		return io.EOF
	}
	return nil
}

func (f endFS) Open(name string) (fs.File, error) {
	if err := f.fails("open", name); err != nil {
		return nil, err
	}
	file, err := f.MapFS.Open(name)
	return endFile{file, f, name}, err
}

func (f endFS) Stat(name string) (fs.FileInfo, error) {
	if err := f.fails("stat", name); err != nil {
		return nil, err
	}
	return f.MapFS.Stat(name)
}

func (f endFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.fails("readdir", name); err != nil {
		return nil, err
	}
	return f.MapFS.ReadDir(name)
}

func (f endFS) ReadLink(name string) (string, error) {
	if err := f.fails("readlink", name); err != nil {
		return "", err
	}
	return f.MapFS.ReadLink(name)
}

type endFile struct {
	fs.File
	of   endFS
	name string
}

func (f endFile) Stat() (fs.FileInfo, error) {
	if err := f.of.fails("fstat", f.name); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f endFile) Close() error {
	_ = f.File.Close()
	return f.of.fails("close", f.name)
}

// An io.EOF that a source gives for anything but a read is an error, and never taken for the end of
// a content.
func TestSourceEnds(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		"d/f": &fstest.MapFile{Data: []byte("hello"), Mode: 0o644},
		"d/l": &fstest.MapFile{Data: []byte("f"), Mode: fs.ModeSymlink | 0o777},
	}
	v := volumetest.Empty(t)
	for _, fault := range [][2]string{
		{"open", "d/f"}, {"fstat", "d/f"}, {"close", "d/f"}, {"readlink", "d/l"}, {"readdir", "d"}, {"readdir", "."}, {"stat", "."},
	} {
		src := endFS{tree, fault[0], fault[1]}
		path := filepath.Join(t.TempDir(), "v.folio")
		if err := folio.ImportFS(t.Context(), path, src, nil); err == nil || err == io.EOF {
			t.Errorf("ImportFS, %s of %s: %v", fault[0], fault[1], err)
		}
		if err := v.Merge(t.Context(), src, "copy", nil); err == nil || err == io.EOF {
			t.Errorf("Merge, %s of %s: %v", fault[0], fault[1], err)
		}
		if _, err := v.Stat("copy"); err == nil {
			t.Errorf("Merge, %s of %s: left something", fault[0], fault[1])
		}
	}
}
