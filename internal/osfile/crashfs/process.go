package crashfs

import (
	"io/fs"
	"runtime"
	"sync"

	"github.com/foliofs/folio/internal/osfile"
)

// A Process is a System for one process that can be killed. Other processes go on with the same
// files, and with the words that they share with it.
//
// A dead process does nothing any more. A goroutine that asks it for an operation does not return
// from it, as by runtime.Goexit; only its deferred functions run. Releasing a lock or a handle
// works, and has no effect: it was released when the process died.
type Process struct {
	fs *FS

	mu      sync.Mutex // guards the fields below
	left    int        // operations until it dies; 0 is never
	dead    bool
	handles []*handle
	unmaps  map[*osfile.Mapping]func() error
	words   map[*osfile.Words]func() error
}

var _ osfile.System = (*Process)(nil)

// Process returns a process that lives on.
func (f *FS) Process() *Process {
	return &Process{fs: f, unmaps: make(map[*osfile.Mapping]func() error), words: make(map[*osfile.Words]func() error)}
}

// KillAt kills the process in place of its n-th operation from now on.
func (p *Process) KillAt(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = n
}

// Dead reports whether the process was killed.
func (p *Process) Dead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// live counts an operation, and does not return if the process is dead.
func (p *Process) live() {
	if p.dies() {
		runtime.Goexit()
	}
}

func (p *Process) dies() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead || p.left == 0 {
		return p.dead
	}
	if p.left--; p.left > 0 {
		return false
	}
	p.dead = true
	for _, h := range p.handles {
		_ = h.Close() // fails only if it was closed
	}
	for _, unmap := range p.unmaps {
		_ = unmap()
	}
	// Words stay mapped: goroutines of the process may still look at them, and their memory must
	// not become another file's.
	return true
}

// Open implements osfile.System.
func (p *Process) Open(name string, flag int, perm fs.FileMode) (osfile.Handle, error) {
	return p.open(func() (osfile.Handle, error) { return p.fs.Open(name, flag, perm) })
}

// OpenSide implements osfile.System.
func (p *Process) OpenSide(db osfile.Handle, suffix string, flag int) (osfile.Handle, error) {
	return p.open(func() (osfile.Handle, error) { return p.fs.OpenSide(db, suffix, flag) })
}

func (p *Process) open(do func() (osfile.Handle, error)) (osfile.Handle, error) {
	p.live()
	h, err := do()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handles = append(p.handles, h.(*handle))
	return &mortal{Handle: h, p: p}, nil
}

// SideExists implements osfile.System.
func (p *Process) SideExists(db osfile.Handle, suffix string) (int64, bool, error) {
	return p.Exists(db.Name() + suffix)
}

// Exists implements osfile.System.
func (p *Process) Exists(name string) (int64, bool, error) {
	p.live()
	return p.fs.Exists(name)
}

// Remove implements osfile.System.
func (p *Process) Remove(name string) error {
	p.live()
	return p.fs.Remove(name)
}

// Rename implements osfile.System.
func (p *Process) Rename(from, to string) error {
	p.live()
	return p.fs.Rename(from, to)
}

// SyncDir implements osfile.System.
func (p *Process) SyncDir(name string) error {
	p.live()
	return p.fs.SyncDir(name)
}

// A mortal is a handle of a process.
type mortal struct {
	osfile.Handle
	p *Process
}

func (h *mortal) ReadAt(b []byte, off int64) (int, error) {
	h.p.live()
	return h.Handle.ReadAt(b, off)
}

func (h *mortal) WriteAt(b []byte, off int64) (int, error) {
	h.p.live()
	return h.Handle.WriteAt(b, off)
}

func (h *mortal) Truncate(size int64) error {
	h.p.live()
	return h.Handle.Truncate(size)
}

func (h *mortal) Sync() error {
	h.p.live()
	return h.Handle.Sync()
}

func (h *mortal) Size() (int64, error) {
	h.p.live()
	return h.Handle.Size()
}

func (h *mortal) Moved() (bool, error) {
	h.p.live()
	return h.Handle.Moved()
}

func (h *mortal) Lock(kind osfile.LockKind, off, n int64) error {
	h.p.live()
	return h.Handle.Lock(kind, off, n)
}

func (h *mortal) Locked(kind osfile.LockKind, off, n int64) (bool, error) {
	h.p.live()
	return h.Handle.Locked(kind, off, n)
}

func (h *mortal) Unlock(off, n int64) error {
	if h.p.dies() {
		return nil
	}
	return h.Handle.Unlock(off, n)
}

func (h *mortal) Close() error {
	if h.p.dies() {
		return nil
	}
	return h.Handle.Close()
}

func (h *mortal) Map(n int64) (*osfile.Mapping, error) {
	h.p.live()
	inner, err := h.Handle.Map(n)
	if err != nil {
		return nil, err
	}
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	var m *osfile.Mapping
	m = osfile.NewMapping(inner.Bytes(), func() error {
		h.p.mu.Lock()
		defer h.p.mu.Unlock()
		if h.p.dead {
			return nil
		}
		delete(h.p.unmaps, m)
		return inner.Unmap()
	})
	h.p.unmaps[m] = inner.Unmap
	return m, nil
}

func (h *mortal) MapWords(off, n int64) (*osfile.Words, error) {
	h.p.live()
	inner, err := h.Handle.MapWords(off, n)
	if err != nil {
		return nil, err
	}
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	var w *osfile.Words
	w = osfile.NewWords(inner.Shared, func() error {
		h.p.mu.Lock()
		defer h.p.mu.Unlock()
		if h.p.dead {
			return nil
		}
		delete(h.p.words, w)
		return inner.Unmap()
	})
	h.p.words[w] = inner.Unmap
	return w, nil
}
