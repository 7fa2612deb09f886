//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/foliofs/folio/internal/store"
)

// A snapshotMount is a mount of a volume in whose root there is a directory of snapshots. Each is a
// fileSystem of its own, which shows its inodes under other numbers:
//
//	 63                       36 35                                   0
//	+---------------------------+--------------------------------------+
//	|  snapshot; 0: the volume  |  inode: 1 to 2^35 - 1, or 2^36 - 1   |
//	+---------------------------+--------------------------------------+
//
// The directory itself is 2^36 - 1. So the numbers do not depend on the mount, and a program that
// compares them takes no file of a snapshot for one of the volume.
//
// The kernel caches a snapshot for ever, as nothing changes there. It does not cache the directory
// of snapshots. So a snapshot that is removed is gone at once: names that lead into it are not
// found, and open files of it fail with ESTALE as soon as the kernel must ask.
type snapshotMount struct {
	*fileSystem // of the live files
	snapshots   store.Snapshotter
	dir         string // of the volume, that is mounted
	visible     bool
	list        *snapshotList
	gone        *fileSystem // of snapshots that were removed

	mu    sync.Mutex // guards the fields below
	pasts map[int64]*fileSystem
	known []store.Snapshot // the snapshots that the last look has found
	since time.Time        // when that was; zero before the first look
}

// snapshotDirName is the name of the directory. A file of the volume with that name hides it.
const snapshotDirName = ".snapshots"

const (
	snapshotShift = 36
	snapshotsNode = 1<<snapshotShift - 1
	lastSnapshot  = 1<<(64-snapshotShift-1) - 1 // the last one with numbers that are positive as off_t
)

// newSnapshotMount returns m with a directory of snapshots, if the store has any and the options
// want it.
func newSnapshotMount(m *fileSystem, o *Options) fuse.RawFileSystem {
	snapshots := m.store.Features().Snapshotter
	if snapshots == nil || o.SnapshotDir == SnapshotsNone {
		return m
	}
	s := &snapshotMount{fileSystem: m, snapshots: snapshots, dir: o.Dir, visible: o.SnapshotDir == SnapshotsVisible, pasts: make(map[int64]*fileSystem)}
	s.list = &snapshotList{m.part(listStore{s}, snapshotsNode, 0), s}
	s.gone = m.part(goneStore{}, 0, 0)
	s.list.ttl = 0
	m.onChange = s.changed
	return s
}

// part returns a file system for a part of a mount that cannot be changed. Its root has the node id
// base + root.
func (m *fileSystem) part(s store.Store, root store.Ino, base uint64) *fileSystem {
	p := &fileSystem{
		RawFileSystem: fuse.NewDefaultRawFileSystem(), store: s, path: m.path, readOnly: true,
		uid: m.uid, gid: m.gid, umask: m.umask, noXattrs: m.noXattrs, failures: failureLog{logger: m.failures.logger}, outage: m.outage,
		wake: make(chan struct{}, 1), ttl: forever, root: root, base: base, top: base + uint64(root),
	}
	p.inodes.init(p)
	p.names.init(p.inodes.knows)
	p.cookies.init()
	return p
}

// current returns the snapshots, the oldest first. It drops removed ones.
func (s *snapshotMount) current() ([]store.Snapshot, time.Time, error) {
	list, err := s.snapshots.Snapshots(bg)
	if err != nil {
		return nil, time.Time{}, err
	}
	list = slices.DeleteFunc(list, func(one store.Snapshot) bool { return one.ID > lastSnapshot })
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(list, s.known) || s.since.IsZero() {
		if s.since.IsZero() && len(list) > 0 {
			s.since = time.Unix(0, list[len(list)-1].Time)
		} else {
			s.since = time.Now()
		}
		s.known = list
		for id := range s.pasts {
			if !slices.ContainsFunc(list, func(one store.Snapshot) bool { return one.ID == id }) {
				delete(s.pasts, id)
			}
		}
	}
	return list, s.since, nil
}

// changed makes the kernel forget the directory if there are other snapshots than it was told of.
func (s *snapshotMount) changed(f *invalidator) {
	s.mu.Lock()
	before := s.since
	s.mu.Unlock()
	if before.IsZero() { // it was told nothing
		return
	}
	if _, since, err := s.current(); err == nil && since.Equal(before) {
		return
	}
	f.inode(snapshotsNode, true)
	if s.visible {
		f.inode(s.root, true)
	}
}

// past returns the file system of a snapshot.
func (s *snapshotMount) past(one store.Snapshot) (*fileSystem, error) {
	s.mu.Lock()
	p := s.pasts[one.ID]
	s.mu.Unlock()
	if p != nil {
		return p, nil
	}
	at, err := s.snapshots.At(bg, one.Name)
	if err != nil {
		return nil, err
	}
	root, err := rootOf(at, s.dir)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p = s.pasts[one.ID]; p == nil {
		p = s.part(at, root, uint64(one.ID)<<snapshotShift)
		s.pasts[one.ID] = p
	}
	return p, nil
}

// top returns the node id of the root of a snapshot.
func (s *snapshotMount) top(one store.Snapshot) (uint64, error) {
	if s.dir == "" {
		return uint64(one.ID)<<snapshotShift + uint64(store.Root), nil
	}
	p, err := s.past(one)
	if err != nil {
		return 0, err
	}
	return p.top, nil
}

// owner returns the file system that answers for a node.
func (s *snapshotMount) owner(node uint64) fuse.RawFileSystem {
	switch {
	case node < snapshotsNode:
		return s.fileSystem
	case node == snapshotsNode:
		return s.list
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.pasts[int64(node>>snapshotShift)]; p != nil {
		return p
	}
	return s.gone
}

// Lookup implements fuse.RawFileSystem.
func (s *snapshotMount) Lookup(cancel <-chan struct{}, in *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	if in.NodeId == fuse.FUSE_ROOT_ID && name == snapshotDirName {
		there, st := s.lookupDir(out)
		if there || !st.Ok() {
			return st
		}
	}
	return s.owner(in.NodeId).Lookup(cancel, in, name, out)
}

// lookupDir looks for the directory of snapshots. It exists unless the volume contains a file of
// its name, or no snapshot.
func (s *snapshotMount) lookupDir(out *fuse.EntryOut) (there bool, st fuse.Status) {
	st = s.view(func(rx store.Rx) error {
		_, err := rx.Lookup(s.root, snapshotDirName)
		there = errors.Is(err, fs.ErrNotExist)
		if there {
			err = nil
		}
		return err
	})
	if !there || !st.Ok() {
		return false, st
	}
	return true, s.list.view(func(rx store.Rx) error {
		n, err := rx.Node(snapshotsNode)
		if err == nil && n.Nlink == emptyDir {
			err = fs.ErrNotExist
		}
		if err == nil {
			s.list.answerEntry(out, s.root, snapshotDirName, &n, asker{})
		}
		return err
	})
}

// ReadDir implements fuse.RawFileSystem.
func (s *snapshotMount) ReadDir(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	if in = s.listed(in, func(e fuse.DirEntry) bool { return out.AddDirEntry(e) }); in == nil {
		return fuse.OK
	}
	return s.owner(in.NodeId).ReadDir(cancel, in, out)
}

// ReadDirPlus implements fuse.RawFileSystem.
func (s *snapshotMount) ReadDirPlus(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	if in = s.listed(in, func(e fuse.DirEntry) bool { return out.AddDirLookupEntry(e) != nil }); in == nil {
		return fuse.OK
	}
	return s.owner(in.NodeId).ReadDirPlus(cancel, in, out)
}

// cookieSnapshots is the place in the root behind the directory of snapshots, which comes first if
// it is visible.
const cookieSnapshots = 1 << 62

// listed adds the directory of snapshots to the root, if it is visible, and returns the request for
// the entries that follow; nil if there is no room for one.
func (s *snapshotMount) listed(in *fuse.ReadIn, add func(e fuse.DirEntry) bool) *fuse.ReadIn {
	if !s.visible || in.NodeId != fuse.FUSE_ROOT_ID || in.Offset != cookieStart && in.Offset != cookieSnapshots {
		return in
	}
	if in.Offset == cookieStart {
		var out fuse.EntryOut
		e := fuse.DirEntry{Name: snapshotDirName, Ino: snapshotsNode, Mode: store.ModeDir, Off: cookieSnapshots}
		if there, st := s.lookupDir(&out); there && st.Ok() && !add(e) {
			return nil
		}
	}
	first := *in
	first.Offset = cookieStart
	return &first
}

// A snapshotList is the directory of snapshots.
type snapshotList struct {
	*fileSystem
	of *snapshotMount
}

// Lookup implements fuse.RawFileSystem.
func (l *snapshotList) Lookup(_ <-chan struct{}, _ *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	list, _, err := l.of.current()
	if err != nil {
		return l.status(err)
	}
	i := slices.IndexFunc(list, func(one store.Snapshot) bool { return one.Name == name })
	if i < 0 {
		return fuse.ENOENT
	}
	p, err := l.of.past(list[i])
	if err != nil {
		return missingStatus(l.status(err))
	}
	return missingStatus(p.view(func(rx store.Rx) error {
		n, err := rx.Node(p.root)
		if err == nil {
			p.answerEntry(out, snapshotsNode, name, &n, asker{})
			out.EntryValid = 0
		}
		return err
	}))
}

// missingStatus is the status of a name that leads to a snapshot that was removed a moment ago.
func missingStatus(st fuse.Status) fuse.Status {
	if st == fuse.Status(syscall.ESTALE) {
		return fuse.ENOENT
	}
	return st
}

// A listStore shows the directory of snapshots, as a store that can only be read.
type listStore struct{ of *snapshotMount }

// Features implements store.Store.
func (s listStore) Features() store.Features { return store.Features{} }

// Begin implements store.Store.
func (s listStore) Begin(context.Context) (store.Rx, error) {
	list, since, err := s.of.current()
	if err != nil {
		return nil, err
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b store.Snapshot) int { return strings.Compare(a.Name, b.Name) })
	return &listRx{of: s.of, list: list, since: since}, nil
}

func (s listStore) Version() (uint64, bool)                               { return 0, false }
func (s listStore) Info(ctx context.Context) (store.Info, error)          { return s.of.store.Info(ctx) }
func (s listStore) Close() error                                          { return nil }
func (s listStore) Update(context.Context, func(tx store.Tx) error) error { return store.ErrReadOnly }
func (s listStore) Sync(context.Context) error                            { return nil }
func (s listStore) Pin(store.Ino) error                                   { return nil }
func (s listStore) Unpin(store.Ino)                                       {}
func (s listStore) Check(context.Context, *store.CheckOptions) (*store.Report, error) {
	return nil, errors.ErrUnsupported
}

// A listRx reads a listStore.
type listRx struct {
	store.NoHoles
	of    *snapshotMount
	list  []store.Snapshot // sorted by name
	since time.Time
}

func (r *listRx) End()            {}
func (r *listRx) Version() uint64 { return 0 }

// emptyDir is the number of links of a directory without directories.
const emptyDir = 2

// Node implements store.Rx.
func (r *listRx) Node(ino store.Ino) (store.Node, error) {
	if ino != snapshotsNode {
		return store.Node{}, fs.ErrNotExist // a lookup tells
	}
	at := r.since.UnixNano()
	return store.Node{Ino: ino, Mode: store.ModeDir | 0o555, Nlink: uint32(emptyDir + len(r.list)), Atime: at, Mtime: at, Ctime: at}, nil
}

// Lookup implements store.Rx. It is not used: a snapshotList does that.
func (r *listRx) Lookup(store.Ino, string) (store.Entry, error) {
	return store.Entry{}, fs.ErrNotExist
}

// List implements store.Rx. Snapshots that lack the directory that is mounted are left out.
func (r *listRx) List(_ store.Ino, after string, most int, l *store.Listing) error {
	i, found := slices.BinarySearchFunc(r.list, after, func(one store.Snapshot, name string) int { return cmp.Compare(one.Name, name) })
	if found {
		i++
	}
	for _, one := range r.list[i:] {
		top, err := r.of.top(one)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		l.Add([]byte(one.Name), store.Ino(top), store.Dir)
		if len(l.Items) == most {
			break
		}
	}
	return nil
}

func (r *listRx) ReadAt(store.Node, []byte, int64) (int, error) { return 0, io.EOF }
func (r *listRx) Xattrs(store.Ino) ([]store.Xattr, error)       { return nil, nil }

// A goneStore is a snapshot that was removed.
type goneStore struct{ store.Store }

func (goneStore) Features() store.Features { return store.Features{} }

func (goneStore) Begin(context.Context) (store.Rx, error) { return nil, store.ErrNoSnapshot }
