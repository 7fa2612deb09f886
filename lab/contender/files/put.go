package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

// A system is one of two ways to the same files. Names are relative to a directory.
type system interface {
	Create(name string) (*os.File, error)
	Open(name string) (*os.File, error)
	WriteFile(name string, data []byte, perm fs.FileMode) error
	ReadFile(name string) ([]byte, error)
	Rename(from, to string) error
	Remove(name string) error
	Mkdir(name string, perm fs.FileMode) error
	FS() fs.FS
	Close() error
}

// store keeps its files in one directory of a system.
type store struct {
	system
	way
	dir *os.File // synced after a rename
}

// A way is one to write a file.
type way struct {
	put    func(s *store, name string, data []byte) error
	how    string
	synced bool
}

// ways are the ways of the groups.
var ways = map[workload.Group]way{
	workload.ReadOnly:   {plain, "plain", false},
	workload.None:       {plain, "plain", false},
	workload.Consistent: {rename, "rename", false},
	workload.Durable:    {renameSynced, "rename", true},
}

// inPlace syncs files without a rename. That is enough for files that never change, on a file
// system that, like ext4, also writes the name of a file that is synced.
var inPlace = map[workload.Group]way{workload.Durable: {plainSynced, "plain", true}}

// newStore opens the directory of a job.
func newStore(j *workload.Job, open func(dir string) (system, error), ways map[workload.Group]way) (*store, error) {
	way, ok := ways[j.Group]
	if !ok {
		return nil, fmt.Errorf("no way to write for group %q", j.Group)
	}
	s := store{way: way}
	var err error
	if s.system, err = open(j.Dir); err != nil {
		return nil, err
	}
	s.dir, err = s.Open(".")
	return &s, err
}

// tasks lets an API keep tasks in files that it opens and writes in these ways.
func tasks(open func(dir string) (system, error), ways map[workload.Group]way, a workload.API) workload.API {
	a.Kind = "files"
	return harness.FileTasks(a, func(j *workload.Job) (harness.Files, error) { return newStore(j, open, ways) })
}

func (s *store) Put(name string, data []byte) error { return s.put(s, name, data) }

func (s *store) Settings() (map[string]string, error) {
	return map[string]string{"write": s.how, "synced": strconv.FormatBool(s.synced)}, nil
}

func (s *store) ReadDir() ([]fs.DirEntry, error) {
	f, err := s.Open(".")
	if err != nil {
		return nil, err
	}
	entries, err := f.ReadDir(-1)
	return entries, errors.Join(err, f.Close())
}

func (s *store) Close() error { return errors.Join(s.dir.Close(), s.system.Close()) }

// plain writes in place: a reader at the same time, or after a crash, may find a part.
func plain(s *store, name string, data []byte) error { return s.WriteFile(name, data, 0o666) }

// rename writes a temporary file and renames it: a reader finds the old content or the new one.
func rename(s *store, name string, data []byte) error {
	if err := s.WriteFile(name+".tmp", data, 0o666); err != nil {
		return err
	}
	return s.Rename(name+".tmp", name)
}

// renameSynced is rename that survives the loss of power: the content is on the disk before it gets
// its name, and the name before it returns.
func renameSynced(s *store, name string, data []byte) error {
	if err := plainSynced(s, name+".tmp", data); err != nil {
		return err
	}
	if err := s.Rename(name+".tmp", name); err != nil {
		return err
	}
	return s.dir.Sync()
}

// plainSynced writes in place, and syncs the file.
func plainSynced(s *store, name string, data []byte) error {
	f, err := s.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// Remove is durable in the group where writes are.
func (s *store) Remove(name string) error {
	if err := s.system.Remove(name); err != nil || !s.synced {
		return err
	}
	return s.dir.Sync()
}

func openRoot(dir string) (system, error) { return os.OpenRoot(dir) }

func openOS(dir string) (system, error) { return paths(dir), nil }

// paths is a directory whose files are reached by package os.
type paths string

func (p paths) path(name string) string { return filepath.Join(string(p), name) }

func (p paths) Create(name string) (*os.File, error) { return os.Create(p.path(name)) }

func (p paths) Open(name string) (*os.File, error) { return os.Open(p.path(name)) }

func (p paths) WriteFile(name string, data []byte, perm fs.FileMode) error {
	return os.WriteFile(p.path(name), data, perm)
}

func (p paths) ReadFile(name string) ([]byte, error) { return os.ReadFile(p.path(name)) }

func (p paths) Rename(from, to string) error { return os.Rename(p.path(from), p.path(to)) }

func (p paths) Remove(name string) error { return os.Remove(p.path(name)) }

func (p paths) Mkdir(name string, perm fs.FileMode) error { return os.Mkdir(p.path(name), perm) }

func (p paths) FS() fs.FS { return os.DirFS(string(p)) }

func (p paths) Close() error { return nil }
