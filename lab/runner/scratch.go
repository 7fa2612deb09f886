package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/foliofs/folio/lab/flock"
)

// storesDir is the directory for everything of the laboratory, below each directory that is
// measured.
const storesDir = "folio-lab"

// scratchPrefix begins the names of scratches.
const scratchPrefix = "run-"

// A Scratch is a directory for all files that one process makes on a file system: stores, and the
// copy of a user's database. The process holds a lock on it until it ends. So the next process can
// tell the directories of dead processes, and removes them.
type Scratch struct {
	Path string
	lock *os.File // the directory itself
}

// NewScratch makes a Scratch on the file system of a directory, and removes the scratches of
// dead processes.
func NewScratch(dir string) (*Scratch, error) {
	base := filepath.Join(dir, storesDir)
	if err := os.MkdirAll(base, 0o777); err != nil {
		return nil, err
	}
	collect(base)
	for {
		path, err := os.MkdirTemp(base, scratchPrefix+"*")
		if err != nil {
			return nil, err
		}
		if s := keep(path); s != nil {
			return s, nil
		}
	}
}

// keep locks a new directory. It returns nil if another process took it for the directory of a dead
// process and removes it. On a system without such locks, no process removes the directory of
// another.
func keep(path string) *Scratch {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	s := &Scratch{path, f}
	if mine, err := flock.Try(f); err == nil && !mine {
		_ = f.Close()
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		_ = f.Close()
		return nil
	}
	return s
}

// collect removes the directories of dead processes. A directory that it cannot remove, for example
// another user's, stays.
func collect(base string) {
	entries, _ := os.ReadDir(base)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), scratchPrefix) {
			continue
		}
		name := filepath.Join(base, e.Name())
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		if dead, err := flock.Try(f); err == nil && dead {
			_ = os.RemoveAll(name)
		}
		_ = f.Close()
	}
}

// Close removes the directory with all that is in it.
func (s *Scratch) Close() error { return errors.Join(s.lock.Close(), os.RemoveAll(s.Path)) }

// store makes a new directory in it.
func (s *Scratch) store() (string, error) { return os.MkdirTemp(s.Path, "store-*") }
