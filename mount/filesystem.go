//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/foliofs/folio/internal/store"
)

// A fileSystem answers the requests of the kernel. The kernel names a file by its inode; only the
// root of the mount is 1 for it, whichever inode that is.
//
// Opening a file is no request: the kernel does it alone. So there are no handles, and closing a
// file is no request either. What a program has written is in the volume when write(2) returns.
type fileSystem struct {
	fuse.RawFileSystem
	store    store.Store
	observer store.Observer // nil if the store is none: then the kernel keeps nothing
	walker   store.Walker   // of a store on another machine; or nil
	path     string         // of the volume
	root     store.Ino
	base     uint64 // a node id is that of an inode and base
	top      uint64 // but the root has this one
	readOnly bool
	noXattrs bool
	uid, gid *uint32 // shown for all files; or nil
	umask    uint32
	kernel   notifier
	failures failureLog
	outage   *outage // of the server of the volume

	inodes    kernelInodes     // inodes that the kernel knows
	waiting   atomic.Int32     // requests that wait for growths
	names     names            // entries that the kernel may know
	pages     pages            // where the contents lie that the kernel may have
	race      invalidationRace // contents that the kernel was made to forget
	notify    notifyQueue      // makes it forget
	cookies   cookies          // places in directories
	confirmed confirmed        // what the server has confirmed for system calls
	mounted   string           // the path of the mount
	ttl       uint64           // seconds that the kernel may keep an answer
	// staleness, if it is not 0, is how old an answer may be that the kernel keeps, in place of
	// ttl.
	staleness time.Duration
	// onChange, if it is not nil, notes what else the kernel must forget after a change.
	onChange func(f *invalidator)

	wake       chan struct{}
	stopped    chan struct{}
	finished   chan struct{}
	closing    atomic.Bool
	unsynced   atomic.Bool    // the volume was changed, and was not synced by itself since
	syncing    chan struct{}  // such a change begins the time until the next sync
	background sync.WaitGroup // changes that the watch makes
	unpinning  atomic.Bool    // one of them unpins inodes
	stats      watchStats
}

// A notifier makes the kernel forget something. A *fuse.Server is one.
type notifier interface {
	InodeNotify(node uint64, off, length int64) fuse.Status
	InodeNotifyStoreCache(node uint64, off int64, data []byte) fuse.Status
	EntryNotify(parent uint64, name string) fuse.Status
}

// forever is how long the kernel keeps an answer: 30,000 years.
const forever = 1 << 40

var bg = context.Background()

func newFileSystem(s store.Store, o *Options) (*fileSystem, error) {
	info, err := s.Info(bg)
	if err != nil {
		return nil, err
	}
	m := &fileSystem{
		RawFileSystem: fuse.NewDefaultRawFileSystem(), store: s, path: info.Path, readOnly: o.ReadOnly, noXattrs: o.NoXattrs,
		uid: o.UID, gid: o.GID, umask: o.Umask & 0o777,
		failures: failureLog{logger: cmp.Or(o.Logger, log.Default())},
		wake:     make(chan struct{}, 1), stopped: make(chan struct{}), finished: make(chan struct{}), syncing: make(chan struct{}, 1),
	}
	probe := func() error { _, err := s.Info(bg); return err }
	m.outage = &outage{probe: probe, stopped: m.stopped, logger: m.failures.logger}
	if m.root, err = rootOf(s, o.Dir); err != nil {
		return nil, err
	}
	m.top = fuse.FUSE_ROOT_ID
	if m.observer = s.Features().Observer; m.observer != nil {
		m.ttl = forever
	}
	m.walker, m.staleness = s.Features().Walker, s.Features().MaxStaleness
	m.notify.send = m.forget
	m.inodes.init(m)
	m.names.init(m.inodes.knows)
	m.cookies.init()
	return m, nil
}

// jiffies is by how much the kernel may keep an answer longer than it was told to: it counts in
// ticks of a clock of 100 Hz or more, and rounds up.
const jiffies = 20 * time.Millisecond

// validity returns how long the kernel may keep the answer to a request.
func (m *fileSystem) validity(to asker) (sec uint64, nsec uint32) {
	if m.staleness == 0 {
		return m.ttl, 0
	}
	left := max(0, m.staleness-time.Since(to.came)-jiffies)
	return uint64(left / time.Second), uint32(left % time.Second)
}

// confirms reports whether the daemon keeps what the server has confirmed for a system call.
func (m *fileSystem) confirms() bool { return m.walker != nil && m.staleness == 0 }

// ino returns the inode of a node id of the kernel.
func (m *fileSystem) ino(node uint64) store.Ino {
	if node == m.top {
		return m.root
	}
	return store.Ino(node - m.base)
}

// node returns the node id of an inode.
func (m *fileSystem) node(ino store.Ino) uint64 {
	if ino == m.root {
		return m.top
	}
	return m.shown(ino)
}

// shown returns the number of an inode as programs see it.
func (m *fileSystem) shown(ino store.Ino) uint64 {
	if ino == snapshotsNode { // the directory above a snapshot
		return snapshotsNode
	}
	return m.base + uint64(ino)
}

// view calls fn with a read transaction.
func (m *fileSystem) view(fn func(rx store.Rx) error) fuse.Status {
	if m.outage.on.Load() {
		return timedOut
	}
	m.wakeWatcherIfPending()
	rx, err := m.store.Begin(bg)
	if err != nil {
		return m.status(err)
	}
	defer rx.End()
	return m.status(fn(rx))
}

// viewAt is view for an fn that reads no more than the needed parts of a path. A store on another
// machine answers that in one round trip, without a transaction.
func (m *fileSystem) viewAt(p store.Path, need store.Need, fn func(rx store.Rx) error) fuse.Status {
	if m.walker == nil {
		return m.view(fn)
	}
	if m.outage.on.Load() {
		return timedOut
	}
	rx, err := m.walker.BeginAt(bg, p, need)
	if err != nil {
		return m.status(err)
	}
	defer rx.End()
	return m.status(fn(rx))
}

// self is the path of an inode that is known by its number.
func self(ino store.Ino) store.Path { return store.Path{Top: ino, Name: "."} }

// wakeWatcherIfPending wakes the watcher if another program has changed something.
func (m *fileSystem) wakeWatcherIfPending() {
	if m.observer != nil && m.observer.Pending() {
		select {
		case m.wake <- struct{}{}:
		default:
		}
	}
}

// change calls fn with a write transaction that it shares with other small changes. fn may run
// twice. It is about to look up the paths.
func (m *fileSystem) change(in *fuse.InHeader, fn func(c *change) error, paths ...store.Path) fuse.Status {
	return m.changeBy(in, 0, fn, paths...)
}

// smallChange is how many bytes a change writes at most that shares a transaction.
const smallChange = 64 << 10

// changeBy is change for a change that writes so many bytes.
func (m *fileSystem) changeBy(in *fuse.InHeader, size int, fn func(c *change) error, paths ...store.Path) fuse.Status {
	switch {
	case m.readOnly:
		return fuse.EROFS
	case m.outage.on.Load():
		return timedOut
	}
	var c change
	run := func(tx store.Tx) error {
		c = change{fs: m, in: in, states: c.states[:0]}
		c.Tx, c.Now, c.Observer = tx, time.Now().UnixNano(), &c
		return fn(&c)
	}
	if m.confirms() {
		m.confirmed.take(in.Pid) // they may be outdated then
	}
	batcher := m.store.Features().Batcher
	ctx := patienceOf(in.Pid)
	defer ctx.end()
	var err error
	switch {
	case m.observer != nil && size <= smallChange:
		err = m.observer.BatchKnown(ctx, run)
	case m.observer != nil:
		err = m.observer.UpdateKnown(ctx, run)
	case m.walker != nil && size <= smallChange && len(paths) > 0:
		err = m.walker.BatchAt(run, paths...)
	case batcher != nil && size <= smallChange:
		err = batcher.Batch(run)
	default:
		err = m.store.Update(bg, run)
	}
	var outdated outdatedError
	if errors.As(err, &outdated) {
		m.forgetAttrs(outdated.ino)
	}
	if err == nil {
		c.committed()
		m.syncLater()
	}
	return m.status(err)
}

// sync makes all changes survive a loss of power.
func (m *fileSystem) sync() fuse.Status {
	if m.outage.on.Load() {
		return timedOut
	}
	return m.status(m.store.Sync(bg))
}

// status returns the errno of an error. If that tells a program no more than that there is one, the
// log gets the error.
func (m *fileSystem) status(err error) fuse.Status {
	st := status(err)
	switch st {
	case fuse.EIO:
		m.failures.add(err)
	case timedOut:
		m.outage.begin(err)
	}
	return st
}

// status returns the errno of an error.
func status(err error) fuse.Status {
	var errno syscall.Errno
	switch {
	case err == nil:
		return fuse.OK
	case errors.Is(err, store.ErrUnreachable): // whatever the socket says
		return timedOut
	case errors.As(err, &errno):
		return fuse.Status(errno)
	case errors.Is(err, store.ErrFull):
		return fuse.Status(syscall.ENOSPC)
	case errors.Is(err, store.ErrBusy):
		return fuse.EBUSY
	case errors.Is(err, context.Canceled): // no program gets this: it was killed
		return fuse.EINTR
	case errors.Is(err, store.ErrNoSnapshot): // it was removed meanwhile
		return fuse.Status(syscall.ESTALE)
	case errors.Is(err, fs.ErrNotExist):
		return fuse.ENOENT
	case errors.Is(err, fs.ErrInvalid):
		return fuse.EINVAL
	case errors.Is(err, store.ErrReadOnly):
		return fuse.EROFS
	}
	return fuse.EIO
}
