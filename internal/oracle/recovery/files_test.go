package recovery

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// memoryDir is where file systems in memory are. Processes die in these tests, not the system:
// nothing is proved by a disk.
const memoryDir = "/dev/shm"

// scratchDir returns a directory of the test's, in memory if there is any.
func scratchDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(memoryDir, "recovery-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// files are a database and its side files, by name.
type files map[string][]byte

const baseName = "db"

// readFiles reads all files of a directory.
func readFiles(dir string) (files, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	all := make(files)
	for _, e := range entries {
		if all[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// write empties the directory, and writes the files there.
func (f files) write(dir string) error {
	err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o777))
	for name, data := range f {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), data, 0o666))
	}
	return err
}

// keep writes the files where they survive the test, and returns where.
func (f files) keep(t *testing.T) string {
	dir := filepath.Join(t.ArtifactDir(), "crash")
	if err := f.write(dir); err != nil {
		t.Log(err)
	}
	return dir
}

// An engine opens the database at a path, recovers it if needed, checks it, and returns its
// content.
type engine struct {
	name string
	open func(path string) (content, error)
}

var engines = [...]engine{{"ours", recoverOurs}, {"C", recoverC}}

// judge lets each engine recover a copy of the files in a directory below dir, and the other engine
// read the files of the first. All must find the same.
func (f files) judge(dir string) (c content, err error) {
	for i, first := range engines {
		path := filepath.Join(dir, "judged", baseName)
		if err := f.write(filepath.Dir(path)); err != nil {
			return c, err
		}
		for _, e := range []engine{first, engines[1-i]} {
			got, err := e.open(path)
			if err != nil {
				return c, fmt.Errorf("recovered by %s, opened by %s: %w", first.name, e.name, err)
			}
			if c.sum == "" {
				c = got
			}
			if got != c {
				return c, fmt.Errorf("recovered by %s, opened by %s: %v; by %s: %v", first.name, e.name, got, engines[0].name, c)
			}
		}
	}
	return c, nil
}
