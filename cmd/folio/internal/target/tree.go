package target

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// A Tree is being written. It belongs to one goroutine.
//
// Names in errors and warnings are paths in the tree.
type Tree struct {
	o     Options
	owner ids // of the process
	stack []frame

	free, todo chan *batch
	cur        *batch
	workers    sync.WaitGroup
	pending    sync.WaitGroup // batches that were sent and are not written yet
	failed     atomic.Pointer[error]
	pieces     [2][]byte // of large contents: one is read while the other one is written
}

// A frame is a directory on the way from the top to where files are being made.
type frame struct {
	dir  *dir // nil while it is closed; see reopen
	name string
	path string // "." at the top
	attr *Attr
}

type ids struct{ uid, gid uint32 }

// New starts to write into root, which stays the caller's. The caller must call Close.
func New(root *os.Root, o *Options) (*Tree, error) {
	n := max(2, min(8, runtime.GOMAXPROCS(0)))
	t := &Tree{
		o:     *o,
		owner: ids{uint32(max(0, os.Geteuid())), uint32(max(0, os.Getegid()))},
		free:  make(chan *batch, n+2), todo: make(chan *batch, n+2),
	}
	top, err := openDir(root, ".", ".")
	if err != nil {
		return nil, err
	}
	t.stack = []frame{{dir: top, name: ".", path: "."}}
	for range n + 2 {
		t.free <- &batch{arena: make([]byte, arenaSize)}
	}
	for range n {
		t.workers.Go(t.work)
	}
	return t, nil
}

// Close ends the tree after Finish or an error. Files that are still to be written are dropped.
func (t *Tree) Close() {
	t.fail(fs.ErrClosed)
	if t.cur != nil {
		t.send()
	}
	close(t.todo)
	t.workers.Wait()
	for _, f := range t.stack {
		if f.dir != nil {
			f.dir.release(t)
		}
	}
	t.stack = nil
}

// Finish waits for everything that is being written. If attr is not nil the top directory gets it.
func (t *Tree) Finish(attr *Attr) error {
	if err := t.drain(); err != nil {
		return err
	}
	if attr == nil {
		return nil
	}
	top := t.stack[0]
	return pathError(".", t.finishDir(top.dir, attr))
}

// checkName accepts one element of a path and nothing else.
func checkName(name string) error {
	if !filepath.IsLocal(name) || name == "." || strings.IndexByte(name, 0) >= 0 || strings.ContainsRune(name, '/') ||
		strings.ContainsRune(name, filepath.Separator) {
		return ErrName
	}
	return nil
}

func pathError(name string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	return &fs.PathError{Op: Op, Path: name, Err: err}
}

func (t *Tree) top() *frame { return &t.stack[len(t.stack)-1] }

// make calls fn to make a file in the current directory. If the name is taken and the file there
// can be removed, it calls fn a second time.
func (t *Tree) make(name string, fn func(d *dir) error) error {
	return t.do(name, func(d *dir) error { return t.makeIn(d, name, fn) })
}

// do calls fn with the current directory, for a name that can be used there.
func (t *Tree) do(name string, fn func(d *dir) error) error {
	err := t.failure()
	if err == nil {
		err = checkName(name)
	}
	if err == nil {
		err = fn(t.top().dir)
	}
	return pathError(path.Join(t.top().path, name), err)
}

func (t *Tree) makeIn(d *dir, name string, fn func(d *dir) error) error {
	err := fn(d)
	switch {
	case !errors.Is(err, fs.ErrExist):
		return err
	case t.o.Skip:
		return nil
	case !t.o.Replace:
		return err
	}
	if err := d.clear(name); err != nil {
		return err
	}
	return fn(d)
}

// Enter makes a directory and goes into it.
func (t *Tree) Enter(name string, attr *Attr) error {
	var sub *dir
	at := path.Join(t.top().path, name)
	err := t.do(name, func(d *dir) error {
		made, err := t.mkdir(d, name)
		if err != nil {
			return err
		}
		if !made && attr.Keep {
			attr = nil
		}
		sub, err = openDir(d.root, name, at)
		return err
	})
	if err != nil {
		return err
	}
	t.stack = append(t.stack, frame{dir: sub, name: name, path: at, attr: attr})
	t.closeAncestor()
	return nil
}

// mkdir makes a directory, unless one is there that may be used.
func (t *Tree) mkdir(d *dir, name string) (made bool, err error) {
	err = d.mkdir(name)
	switch {
	case !errors.Is(err, fs.ErrExist) || !t.o.Replace && !t.o.Skip:
		return true, err
	case d.isDir(name):
		return false, nil
	case t.o.Strict || t.o.Skip:
		return false, ErrNotDir
	}
	if err := d.clear(name); err != nil {
		return false, err
	}
	return true, d.mkdir(name)
}

// Leave goes back to the directory above. The one left gets its attributes when its last file is
// written.
func (t *Tree) Leave() error {
	f := *t.top()
	t.stack = t.stack[:len(t.stack)-1]
	f.dir.attr.Store(f.attr)
	f.dir.release(t)
	if err := t.reopen(); err != nil {
		return pathError(t.top().path, err)
	}
	return t.failure()
}

// File makes a regular file of attr.Size bytes, which content gives.
func (t *Tree) File(name string, attr *Attr, content io.ReaderAt) error {
	if attr.Size > arenaSize {
		return t.do(name, func(d *dir) error {
			shown := path.Join(t.top().path, name)
			return t.file(d, name, attr, func(name string, attr *Attr) error { return t.large(d, name, shown, attr, content) })
		})
	}
	if err := t.failure(); err != nil {
		return err
	}
	at := path.Join(t.top().path, name)
	if err := checkName(name); err != nil {
		return pathError(at, err)
	}
	p := t.room(int(attr.Size))
	if err := readAt(content, p, 0); err != nil {
		return err
	}
	d := t.top().dir
	d.holders.Add(1)
	t.cur.jobs = append(t.cur.jobs, job{dir: d, name: name, path: at, attr: *attr, data: p})
	return nil
}

func readAt(r io.ReaderAt, p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	n, err := r.ReadAt(p, off)
	switch {
	case n == len(p):
		return nil
	case err == io.EOF || err == nil:
		return io.ErrUnexpectedEOF
	}
	return err
}

// failure returns the first error of a worker.
func (t *Tree) failure() error {
	if err := t.failed.Load(); err != nil {
		return *err
	}
	return nil
}

func (t *Tree) fail(err error) {
	if err != nil {
		t.failed.CompareAndSwap(nil, &err)
	}
}

// Symlink makes a symbolic link, whatever its target.
func (t *Tree) Symlink(name, to string, attr *Attr) error {
	return t.make(name, func(d *dir) error {
		if err := d.root.Symlink(to, name); err != nil {
			return err
		}
		if t.o.Owner {
			if err := d.root.Lchown(name, int(attr.UID), int(attr.GID)); err != nil {
				return err
			}
		}
		return d.setTimes(name, attr)
	})
}

// Link makes a further name of a file in the tree, which is at the path old.
func (t *Tree) Link(old, name string) error {
	if err := t.drain(); err != nil {
		return err
	}
	top := t.stack[0].dir
	at := path.Join(t.top().path, name)
	return t.make(name, func(*dir) error { return top.root.Link(filepath.FromSlash(old), filepath.FromSlash(at)) })
}

// Special makes a device or a fifo. Where the system does not let it be made, there is a warning
// instead.
func (t *Tree) Special(name string, attr *Attr) error {
	var made bool
	err := t.make(name, func(d *dir) (err error) {
		made, err = d.mknod(name, attr)
		if err != nil || !made {
			return err
		}
		if t.o.Owner {
			if err := d.root.Lchown(name, int(attr.UID), int(attr.GID)); err != nil {
				return err
			}
		}
		return errors.Join(d.setTimes(name, attr), d.root.Chmod(name, t.mode(attr)))
	})
	if err == nil && !made && t.o.Warn != nil {
		t.o.Warn(path.Join(t.top().path, name), "a special file")
	}
	return err
}

// mode is the mode that a file may have here.
func (t *Tree) mode(attr *Attr) fs.FileMode {
	mode := attr.Mode & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	const unsettable = math.MaxUint32 // chown takes it for no change
	theirs := t.o.Owner && attr.UID != unsettable && attr.GID != unsettable
	if !theirs && t.owner != (ids{attr.UID, attr.GID}) {
		mode &^= fs.ModeSetuid | fs.ModeSetgid
	}
	return mode
}
