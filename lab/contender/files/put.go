package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/kit"
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
	put func(s *store, name string, data []byte) error
	how string
	dir *os.File // synced after a rename
}

// puts are how the groups write.
var puts = map[workload.Group]store{
	workload.ReadOnly:   {put: plain, how: "plain"},
	workload.None:       {put: plain, how: "plain"},
	workload.Consistent: {put: rename, how: "rename"},
	workload.Durable:    {put: synced, how: "rename+fsync"},
}

// newStore opens the directory of a job.
func newStore(j *workload.Job, open func(dir string) (system, error)) (*store, error) {
	s, ok := puts[j.Group]
	if !ok {
		return nil, fmt.Errorf("no way to write for group %q", j.Group)
	}
	var err error
	if s.system, err = open(j.Dir); err != nil {
		return nil, err
	}
	s.dir, err = s.Open(".")
	return &s, err
}

func tasks(open func(dir string) (system, error)) func(j *workload.Job) (workload.Tasks, error) {
	return func(j *workload.Job) (workload.Tasks, error) {
		s, err := newStore(j, open)
		return kit.FileTasks(s), err
	}
}

func (s *store) Put(name string, data []byte) error { return s.put(s, name, data) }

func (s *store) Settings() (map[string]string, error) { return map[string]string{"write": s.how}, nil }

func (s *store) ReadDir() ([]fs.DirEntry, error) {
	f, err := s.Open(".")
	if err != nil {
		return nil, err
	}
	entries, err := f.ReadDir(-1)
	return entries, errors.Join(err, f.Close())
}

func (s *store) Close() error { return errors.Join(s.dir.Close(), s.system.Close()) }

// plain writes in place: who reads meanwhile, or after a crash, may find a part.
func plain(s *store, name string, data []byte) error { return s.WriteFile(name, data, 0o666) }

// rename writes beside and renames: who reads finds the old content or the new one.
func rename(s *store, name string, data []byte) error {
	if err := s.WriteFile(name+".tmp", data, 0o666); err != nil {
		return err
	}
	return s.Rename(name+".tmp", name)
}

// synced is rename that survives the loss of power: the content is on the disk before it gets its name, and the name before it
// returns.
func synced(s *store, name string, data []byte) error {
	f, err := s.Create(name + ".tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := s.Rename(name+".tmp", name); err != nil {
		return err
	}
	return s.dir.Sync()
}

// Remove is durable in the group where writes are.
func (s *store) Remove(name string) error {
	if err := s.system.Remove(name); err != nil || s.how != "rename+fsync" {
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
