//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/foliofs/folio/internal/store"
)

// MountFS mounts any file system of package io/fs for reading. The kernel keeps nothing of it.
func MountFS(fsys fs.FS, dir string, o *Options) (*Server, error) {
	options := Options{}
	if o != nil {
		options = *o
	}
	options.ReadOnly = true
	return mountStore(newFSStore(fsys), dir, &options)
}

// An fsStore is an fs.FS as a store that can only be read. It gives each path a number when it is
// first asked for.
type fsStore struct {
	fsys fs.FS

	mu    sync.Mutex // guards the fields below
	paths []string   // by inode, from 1 on
	inos  map[string]store.Ino
}

func newFSStore(fsys fs.FS) *fsStore {
	return &fsStore{fsys: fsys, paths: []string{"", "."}, inos: map[string]store.Ino{".": store.Root}}
}

// ino returns the number of a path.
func (s *fsStore) ino(name string) store.Ino {
	s.mu.Lock()
	defer s.mu.Unlock()
	ino, ok := s.inos[name]
	if !ok {
		ino = store.Ino(len(s.paths))
		s.paths = append(s.paths, name)
		s.inos[name] = ino
	}
	return ino
}

// path returns the path of a number.
func (s *fsStore) path(ino store.Ino) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !ino.Valid() || int(ino) >= len(s.paths) {
		return "", fs.ErrNotExist
	}
	return s.paths[ino], nil
}

// Begin implements store.Store. Transactions are no snapshots: the file system is as it is.
func (s *fsStore) Begin(context.Context) (store.Rx, error) { return fsRx{s: s}, nil }

// Version implements store.Store.
func (s *fsStore) Version() (uint64, bool) { return 0, false }

// Info implements store.Store.
func (s *fsStore) Info(context.Context) (store.Info, error) {
	return store.Info{Path: fmt.Sprintf("%T", s.fsys), ChunkSize: store.ChunkSize}, nil
}

// Features implements store.Store.
func (s *fsStore) Features() store.Features { return store.Features{} }

// Check implements store.Store: there is nothing to check.
func (s *fsStore) Check(context.Context, *store.CheckOptions) (*store.Report, error) {
	return nil, errors.ErrUnsupported
}

func (s *fsStore) Close() error                                          { return nil }
func (s *fsStore) Update(context.Context, func(tx store.Tx) error) error { return store.ErrReadOnly }
func (s *fsStore) Sync(context.Context) error                            { return nil }
func (s *fsStore) Pin(store.Ino) error                                   { return nil }
func (s *fsStore) Unpin(store.Ino)                                       {}

// An fsRx reads an fsStore.
type fsRx struct {
	store.NoHoles
	s *fsStore
}

func (r fsRx) End()            {}
func (r fsRx) Version() uint64 { return 0 }

// Node implements store.Rx.
func (r fsRx) Node(ino store.Ino) (store.Node, error) {
	name, err := r.s.path(ino)
	if err != nil {
		return store.Node{}, err
	}
	info, err := fs.Stat(r.s.fsys, name)
	if err != nil {
		return store.Node{}, err
	}
	n := store.Node{Ino: ino, Mode: uint32(info.Mode().Perm()), Nlink: 1, Mtime: clampTime(info.ModTime().Unix(), uint32(info.ModTime().Nanosecond()))}
	n.Ctime, n.Atime = n.Mtime, n.Mtime
	switch info.Mode().Type() {
	case fs.ModeDir:
		n.Mode |= store.ModeDir
		n.Nlink = 2
	case 0:
		n.Mode |= store.ModeRegular
		n.Size = info.Size()
	default:
		return n, fs.ErrNotExist // only directories and files can be read through io/fs
	}
	return n, nil
}

// Lookup implements store.Rx.
func (r fsRx) Lookup(dir store.Ino, name string) (store.Entry, error) {
	parent, err := r.s.path(dir)
	full := path.Join(parent, name)
	if err != nil || !fs.ValidPath(name) || !fs.ValidPath(full) {
		return store.Entry{}, cmp.Or(err, fs.ErrNotExist)
	}
	if _, err := fs.Stat(r.s.fsys, full); err != nil {
		return store.Entry{}, err
	}
	ino := r.s.ino(full)
	n, err := r.Node(ino)
	return store.Entry{Name: name, Ino: ino, Type: store.TypeOf(n.Mode)}, err
}

// List implements store.Rx.
func (r fsRx) List(dir store.Ino, after string, most int, l *store.Listing) error {
	parent, err := r.s.path(dir)
	if err != nil {
		return err
	}
	entries, err := fs.ReadDir(r.s.fsys, parent)
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		typ := store.File
		switch {
		case e.Name() <= after || !e.IsDir() && !e.Type().IsRegular():
			continue
		case e.IsDir():
			typ = store.Dir
		}
		l.Add([]byte(e.Name()), r.s.ino(path.Join(parent, e.Name())), typ)
		if len(l.Items) == most {
			break
		}
	}
	return nil
}

// ReadAt implements store.Rx.
func (r fsRx) ReadAt(n store.Node, p []byte, off int64) (int, error) {
	name, err := r.s.path(n.Ino)
	if err != nil {
		return 0, err
	}
	f, err := r.s.fsys.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if at, ok := f.(io.ReaderAt); ok {
		return at.ReadAt(p, off)
	}
	if _, err := io.CopyN(io.Discard, f, off); err != nil {
		return 0, err
	}
	got, err := io.ReadFull(f, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return got, err
}

// Xattrs implements store.Rx.
func (r fsRx) Xattrs(store.Ino) ([]store.Xattr, error) { return nil, nil }
