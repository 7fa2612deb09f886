//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/foliofs/folio/internal/store"
)

// GetAttr implements fuse.RawFileSystem.
func (m *fileSystem) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	ino, to := m.ino(in.NodeId), m.asker(&in.InHeader)
	if m.confirms() {
		return m.confirmAttributes(&in.InHeader, out, ino, to)
	}
	return m.viewAt(self(ino), store.NeedEntry, func(rx store.Rx) error {
		n, err := rx.Node(ino)
		if err == nil {
			m.answerAttr(out, &n, to)
		}
		return err
	})
}

// Lookup implements fuse.RawFileSystem.
func (m *fileSystem) Lookup(_ <-chan struct{}, in *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	dir, to := m.ino(in.NodeId), m.asker(in)
	answer := func(n store.Node, to asker, err error) error {
		missing := errors.Is(err, fs.ErrNotExist)
		if missing && len(name) > maxName {
			return syscall.ENAMETOOLONG
		}
		if missing && m.observer != nil { // a name that is not there is an answer, too
			if !m.names.addMissing(dir, name) {
				return syscall.ENOENT
			}
			*out = fuse.EntryOut{EntryValid: m.ttl}
			return nil
		}
		if missing && m.staleness > 0 {
			*out = fuse.EntryOut{}
			out.EntryValid, out.EntryValidNsec = m.validity(to)
			return nil
		}
		if err == nil {
			m.answerEntry(out, dir, name, &n, to)
		}
		return err
	}
	if m.confirms() {
		return m.confirmLookup(in, dir, name, to, answer)
	}
	return m.viewAt(store.Path{Top: dir, Name: name}, store.NeedEntry, func(rx store.Rx) error {
		n, err := m.lookUp(rx, dir, name)
		return answer(n, to, err)
	})
}

// attributes returns the attributes of an inode, if they are confirmed already.
func (m *fileSystem) attributes(f *facts, call *systemCall, in *fuse.InHeader, ino store.Ino) (n store.Node, ok bool) {
	switch same := f.call == call.text; {
	case same && f.child.Ino == ino:
		n, f.child = f.child, store.Node{}
		return n, m.inodes.current(&n, f.clock)
	case same && f.dir.Ino == ino && f.uses > 0:
		if by := callerOf(in); !m.allows(&f.dir, in.Uid, &by, mayEnter) {
			return n, false
		}
		f.uses--
		f.told = rightsOf{ino, m.inodes.hashRights(&f.dir)}
		return f.dir, true
	}
	return n, false
}

// confirmAttributes answers with the attributes of an inode that are confirmed for the system call
// of the caller. If there are none, it asks the server for them and for what the system call is
// likely to need next.
func (m *fileSystem) confirmAttributes(in *fuse.InHeader, out *fuse.AttrOut, ino store.Ino, to asker) fuse.Status {
	f := m.confirmed.take(in.Pid)
	call, known := systemCallOf(in.Pid)
	if known {
		if n, ok := m.attributes(&f, &call, in, ino); ok {
			m.confirmed.put(in.Pid, f)
			m.answerAttr(out, &n, asker{in.Pid, f.clock, to.came})
			return fuse.OK
		}
	}
	next := facts{clock: to.at, call: call.text, kind: call.kind(), told: f.told}
	if next.told.ino == ino {
		next.told = rightsOf{}
	}
	path, need := self(ino), store.NeedEntry
	var names []string
	var c *content
	switch {
	case !known:
	case f.opened == ino && call.reads() && m.inodes.extentOf(ino).size <= store.ChunkSize:
		need, c = store.NeedInode, &content{at: to.at}
	case f.opened == ino:
		next.opened = ino
	default:
		if names = call.names(m.mounted); len(names) > 0 {
			path = store.Path{Top: ino, Name: strings.Join(names, "/")}
		}
	}
	st := m.viewAt(path, need, func(rx store.Rx) error {
		n, err := rx.Node(ino)
		if err != nil {
			return err
		}
		switch {
		case c != nil && n.IsRegular() && n.Size <= store.ChunkSize:
			c.n, c.data = n, make([]byte, n.Size)
			if _, err := readAt(rx, &n, c.data, 0); err == nil {
				next.content = c
			}
		case store.TypeOf(n.Mode) == store.Dir:
			next.dir = n
			if next.kind == opens || next.kind == renames { // the kernel may ask before it looks up names
				next.uses = 1
			}
			next.ahead = m.readAhead(rx, n, names)
		}
		m.answerAttr(out, &n, to)
		return nil
	})
	if known && st == fuse.OK {
		m.confirmed.put(in.Pid, next)
	}
	return st
}

// readAhead looks up names, each in the directory that the one before it leads to.
func (m *fileSystem) readAhead(rx store.Rx, dir store.Node, names []string) (list []lookedUp) {
	for _, name := range names {
		n, err := m.lookUp(rx, dir.Ino, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			break
		}
		list = append(list, lookedUp{dir, name, n})
		if store.TypeOf(n.Mode) != store.Dir {
			break
		}
		dir = n
	}
	return list
}

// confirmLookup returns the inode to which a name leads. It asks the server unless that was read
// ahead for the system call of the caller.
func (m *fileSystem) confirmLookup(in *fuse.InHeader, dir store.Ino, name string, to asker, answer func(n store.Node, to asker, err error) error) fuse.Status {
	f := m.confirmed.take(in.Pid)
	for i, e := range f.ahead {
		if e.dir.Ino == dir && e.name == name && m.inodes.current(&e.n, f.clock) {
			f.ahead = f.ahead[i+1:]
			f.looked(e)
			m.confirmed.put(in.Pid, f)
			var err error
			if e.n.Ino == 0 {
				err = fs.ErrNotExist
			}
			return m.status(answer(e.n, asker{in.Pid, f.clock, to.came}, err))
		}
	}
	return m.viewAt(store.Path{Top: dir, Name: name}, store.NeedEntry, func(rx store.Rx) error {
		d, err := rx.Node(dir)
		if err != nil {
			return err
		}
		if f.told.ino == dir && f.told.hash != m.inodes.hashRights(&d) { // C3
			m.confirmed.put(in.Pid, facts{told: f.told})
			return outdatedError{dir}
		}
		n, err := m.lookUp(rx, dir, name)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			next := facts{clock: to.at, call: f.call, kind: f.kind, dir: f.dir, uses: f.uses}
			if f.told.ino != dir {
				next.told = f.told
			}
			next.looked(lookedUp{d, name, n})
			m.confirmed.put(in.Pid, next)
		}
		return answer(n, to, err)
	})
}
