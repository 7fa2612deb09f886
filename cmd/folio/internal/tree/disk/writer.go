package disk

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

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/internal/posix"
)

// A Writer writes a tree into a directory. Only one goroutine may use it.
type Writer struct {
	o     WriteOptions
	owner ids // of the process
	stack []level

	free, todo chan *batch
	cur        *batch
	workers    sync.WaitGroup
	pending    sync.WaitGroup // batches that were sent and are not written yet
	failed     atomic.Pointer[error]
	topAttr    *tree.Entry // of the entry ".", if it is the directory itself
	pieces     [2][]byte   // of large contents: one is read while the other one is written
}

// A level is a directory on the way from the top to where files are being made.
type level struct {
	dir  *outDir // nil while it is closed; see reopen
	name string
	path string // "." at the top
	attr *tree.Entry
}

// ids are the owner and the group of a file.
type ids struct{ uid, gid uint32 }

// NewWriter starts to write into root. The caller must call Close, and must close root after that.
func NewWriter(root *os.Root, o *WriteOptions) (*Writer, error) {
	n := max(2, min(8, runtime.GOMAXPROCS(0)))
	w := &Writer{
		o:    *o,
		free: make(chan *batch, n+2), todo: make(chan *batch, n+2),
	}
	w.owner.uid, w.owner.gid = posix.Owner()
	top, err := openOut(root, ".", ".")
	if err != nil {
		return nil, err
	}
	w.stack = []level{{dir: top, name: ".", path: "."}}
	for range n + 2 {
		w.free <- &batch{arena: make([]byte, arenaSize)}
	}
	for range n {
		w.workers.Go(w.work)
	}
	return w, nil
}

// Close ends the tree after Finish or an error. Files that are still to be written are dropped.
func (w *Writer) Close() {
	w.fail(fs.ErrClosed)
	if w.cur != nil {
		w.send()
	}
	close(w.todo)
	w.workers.Wait()
	for _, f := range w.stack {
		if f.dir != nil {
			f.dir.release(w)
		}
	}
	w.stack = nil
}

// finish waits until everything is written. If attr is not nil, the top directory gets it.
func (w *Writer) finish(attr *tree.Entry) error {
	if err := w.drain(); err != nil {
		return err
	}
	if attr == nil {
		return nil
	}
	top := w.stack[0]
	return w.pathError(".", w.finishDir(top.dir, attr))
}

// checkName accepts one element of a path and nothing else.
func checkName(name string) error {
	if !filepath.IsLocal(name) || name == "." || strings.IndexByte(name, 0) >= 0 || strings.ContainsRune(name, '/') ||
		strings.ContainsRune(name, filepath.Separator) {
		return tree.ErrName
	}
	return nil
}

// shown is how errors and warnings name a path in the tree.
func (w *Writer) shown(name string) string { return filepath.Join(w.o.Dir, filepath.FromSlash(name)) }

// pathError names the file in an error by its path from the tree's root. The error of an os.Root
// knows only the name within the directory.
func (w *Writer) pathError(name string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	return &fs.PathError{Op: Op, Path: w.shown(name), Err: err}
}

func (w *Writer) top() *level { return &w.stack[len(w.stack)-1] }

// make calls fn to make a file in the current directory. If the name is taken and the file there
// can be removed, it calls fn a second time.
func (w *Writer) make(name string, fn func(d *outDir) error) error {
	return w.do(name, func(d *outDir) error { return w.makeIn(d, name, fn) })
}

// do calls fn with the current directory, for a name that can be used there.
func (w *Writer) do(name string, fn func(d *outDir) error) error {
	err := w.failure()
	if err == nil {
		err = checkName(name)
	}
	if err == nil {
		err = fn(w.top().dir)
	}
	return w.pathError(path.Join(w.top().path, name), err)
}

// makeIn calls fn to make a file in a directory. If the name is taken, it does what the options
// say: pass over the file, or remove what is there and call fn again.
func (w *Writer) makeIn(d *outDir, name string, fn func(d *outDir) error) error {
	err := fn(d)
	switch {
	case !errors.Is(err, fs.ErrExist):
		return err
	case w.o.Skip:
		return nil
	case !w.o.Replace:
		return err
	}
	if err := d.clear(name); err != nil {
		return err
	}
	return fn(d)
}

// enter makes a directory and goes into it: the files that follow are made there until leave.
func (w *Writer) enter(name string, attr *tree.Entry) error {
	var sub *outDir
	at := path.Join(w.top().path, name)
	err := w.do(name, func(d *outDir) error {
		made, err := w.mkdir(d, name)
		if err != nil {
			return err
		}
		if !made && w.o.Keep {
			attr = nil
		}
		sub, err = openOut(d.root, name, at)
		return err
	})
	if err != nil {
		return err
	}
	w.stack = append(w.stack, level{dir: sub, name: name, path: at, attr: attr})
	w.closeAncestor()
	return nil
}

// mkdir makes a directory, unless one is there that may be used.
func (w *Writer) mkdir(d *outDir, name string) (made bool, err error) {
	err = d.mkdir(name)
	switch {
	case !errors.Is(err, fs.ErrExist) || !w.o.Replace && !w.o.Skip:
		return true, err
	case d.isDir(name):
		return false, nil
	case w.o.Strict || w.o.Skip:
		return false, errNotDir
	}
	if err := d.clear(name); err != nil {
		return false, err
	}
	return true, d.mkdir(name)
}

// leave goes back to the directory above. The directory that is left gets its attributes when the
// last file in it is written, because each file changes its times, and its mode may forbid files.
func (w *Writer) leave() error {
	f := *w.top()
	w.stack = w.stack[:len(w.stack)-1]
	f.dir.attr.Store(f.attr)
	f.dir.release(w)
	if err := w.reopen(); err != nil {
		return w.pathError(w.top().path, err)
	}
	return w.failure()
}

// addFile makes a regular file of attr.Size bytes, which content gives. A worker writes a small
// one.
func (w *Writer) addFile(name string, attr *tree.Entry, content io.ReaderAt) error {
	if attr.Size > arenaSize {
		return w.do(name, func(d *outDir) error {
			shown := path.Join(w.top().path, name)
			return w.file(d, name, attr, func(name string, attr *tree.Entry) error { return w.large(d, name, shown, attr, content) })
		})
	}
	if err := w.failure(); err != nil {
		return err
	}
	at := path.Join(w.top().path, name)
	if err := checkName(name); err != nil {
		return w.pathError(at, err)
	}
	p := w.reserve(int(attr.Size))
	if err := readAt(content, p, 0); err != nil {
		return err
	}
	d := w.top().dir
	d.holders.Add(1)
	w.cur.jobs = append(w.cur.jobs, job{dir: d, name: name, path: at, attr: *attr, data: p})
	return nil
}

// readAt fills p, or returns io.ErrUnexpectedEOF if the content ends before.
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
func (w *Writer) failure() error {
	if err := w.failed.Load(); err != nil {
		return *err
	}
	return nil
}

func (w *Writer) fail(err error) {
	if err != nil {
		w.failed.CompareAndSwap(nil, &err)
	}
}

// symlink makes a symbolic link, whatever its target.
func (w *Writer) symlink(name, to string, attr *tree.Entry) error {
	return w.make(name, func(d *outDir) error {
		if err := d.root.Symlink(to, name); err != nil {
			return err
		}
		if w.o.Owner {
			if err := d.root.Lchown(name, int(attr.UID), int(attr.GID)); err != nil {
				return err
			}
		}
		return d.setTimes(name, attr)
	})
}

// link makes a further name of a file in the tree, which is at the path old. The file must be
// complete: a worker may still have it.
func (w *Writer) link(old, name string) error {
	if err := w.drain(); err != nil {
		return err
	}
	top := w.stack[0].dir
	at := path.Join(w.top().path, name)
	return w.make(name, func(*outDir) error { return top.root.Link(filepath.FromSlash(old), filepath.FromSlash(at)) })
}

// special makes a device or a fifo. If the system does not let the user make it, there is a warning
// instead.
func (w *Writer) special(name string, attr *tree.Entry) error {
	var made bool
	err := w.make(name, func(d *outDir) (err error) {
		made, err = d.mknod(name, attr)
		if err != nil || !made {
			return err
		}
		if w.o.Owner {
			if err := d.root.Lchown(name, int(attr.UID), int(attr.GID)); err != nil {
				return err
			}
		}
		return errors.Join(d.setTimes(name, attr), d.root.Chmod(name, w.mode(attr)))
	})
	if err == nil && !made && w.o.Warn != nil {
		w.o.Warn(w.shown(path.Join(w.top().path, name)), "a special file")
	}
	return err
}

// mode is the mode that a file may have here. A program that was setuid for another owner must not
// become setuid for the user who exports it.
func (w *Writer) mode(attr *tree.Entry) fs.FileMode {
	mode := attr.Mode & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	const unsettable = math.MaxUint32 // chown takes it for no change
	theirs := w.o.Owner && attr.UID != unsettable && attr.GID != unsettable
	if !theirs && w.owner != (ids{attr.UID, attr.GID}) {
		mode &^= fs.ModeSetuid | fs.ModeSetgid
	}
	return mode
}
