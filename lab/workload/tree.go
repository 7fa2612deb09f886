package workload

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing/fstest"
	"time"
)

// Tree is a store of files.
type Tree interface {
	// Import stores all of src, in one transaction where there are transactions, and keeps it as
	// the group of the job demands.
	Import(src fs.FS) error
	// FS returns the stored tree, for one goroutine.
	FS() (fs.FS, error)
	session
}

// source is a tree by name: three, generated, goroot, goroot/src, or a directory.
func source(name string, entries, size int) (fs.FS, error) {
	switch {
	case name == "three":
		return fstest.MapFS{
			"foo/one/bar.txt":   {Data: []byte("one"), ModTime: treeTime, Mode: 0o644},
			"foo/two/bar.txt":   {Data: []byte("two"), ModTime: treeTime, Mode: 0o644},
			"foo/three/bar.txt": {Data: []byte("three"), ModTime: treeTime, Mode: 0o644},
		}, nil
	case name == "generated":
		return generated(entries, size), nil
	case name == "goroot" || strings.HasPrefix(name, "goroot/"):
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return nil, fmt.Errorf("looking for GOROOT: %w", err)
		}
		return os.DirFS(filepath.Join(strings.TrimSpace(string(out)), strings.TrimPrefix(name, "goroot"))), nil
	}
	if !filepath.IsAbs(name) {
		return nil, fmt.Errorf("tree %q: it takes three, generated, goroot, goroot/src or the absolute path of a directory", name)
	}
	info, err := os.Stat(name)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("tree %s: not a directory", name)
	}
	return os.DirFS(name), err
}

// treeTime is when the files of made trees were changed.
var treeTime = time.Date(2022, 4, 7, 12, 0, 0, 0, time.UTC)

// fanOut is how many files a directory of a generated tree has.
const fanOut = 50

// generated returns a tree of files with about size bytes each. The length of a file is between
// half of size and one and a half times size.
func generated(files, size int) fs.FS {
	tree := make(fstest.MapFS)
	for i := range files {
		tree[generatedName(i)] = &fstest.MapFile{Data: content(i, size), ModTime: treeTime, Mode: 0o644}
	}
	return tree
}

func generatedName(i int) string {
	return path.Join(fmt.Sprintf("d%02d", i/fanOut/fanOut), fmt.Sprintf("d%02d", i/fanOut%fanOut), fmt.Sprintf("file%05d.txt", i))
}

// content returns the content of file i: words that do not repeat soon.
func content(i, size int) []byte {
	r := Rand(mix(uint64(i) + 1))
	n := size/2 + int(r.Next()%uint64(size+1))
	b := make([]byte, 0, n+16)
	for len(b) < n {
		b = fmt.Appendf(b, "%016x", r.Next())
	}
	return b[:n]
}

// stored reports whether a file is taken in: symbolic links are not, as not every store knows them.
func stored(d fs.DirEntry) bool { return d.IsDir() || d.Type().IsRegular() }

// Each calls fn for every directory and file of a tree that is to be stored, with its content,
// parents first.
func Each(src fs.FS, fn func(name string, info fs.FileInfo, data []byte) error) error {
	return fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." || !stored(d) {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var data []byte
		if !d.IsDir() {
			if data, err = fs.ReadFile(src, name); err != nil {
				return err
			}
		}
		return fn(name, info, data)
	})
}

// A session is a connection, or another part of a store that belongs to one goroutine.
type session interface {
	// Settings returns the settings in force, read back.
	Settings() (map[string]string, error)
	Close() error
}
