package crashfs

import (
	"iter"
	"maps"
	"path"
	"slices"
)

// A History records the operations on an FS so far.
type History struct {
	base  *Image
	first map[string]*inode
	ops   []Op
	words map[*inode]bool // the volatile files
}

// History returns the history up to now.
func (f *FS) History() *History {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := &History{base: f.base, first: f.first, ops: f.ops[:len(f.ops):len(f.ops)], words: make(map[*inode]bool)}
	for _, i := range f.inodes {
		if i.volatile {
			h.words[i] = true
		}
	}
	return h
}

// Ops returns the operations. They must not be changed.
func (h *History) Ops() []Op { return h.ops }

// Crashes returns the disk at each moment before an operation that changes the possible results of
// a crash, and at the end. The disk goes on with the iteration.
func (h *History) Crashes() iter.Seq[*Disk] {
	return func(yield func(*Disk) bool) {
		d := h.disk()
		for _, op := range h.ops {
			if d.differs(op) && !yield(d) {
				return
			}
			d.step(op)
		}
		yield(d)
	}
}

// End returns the disk as it is at the end.
func (h *History) End() *Disk {
	d := h.disk()
	for _, op := range h.ops {
		d.step(op)
	}
	return d
}

// A Disk holds the files that are on disk at one moment, and the changes that may get there (D1 to
// D8).
type Disk struct {
	history *History
	at      int // operations done
	files   map[*inode]*file
	names   map[string]*inode // on disk
	moves   []move
}

// A file is the part of an inode that is on disk. Its content is never changed in place.
type file struct {
	content []byte
	pending []change
	words   [][]uint32 // of a volatile file: its contents, the last at the end
}

// A change is a write, a hole or a truncation that is not on disk.
type change struct {
	op    int
	kind  Kind
	inode *inode
	off   int64 // the size for Truncate
	size  int64 // how many bytes are written or punched
	data  []byte
	lost  bool // by a Sync that failed: the next one does not put it on disk
}

// A move is a change of names that is not on disk.
type move struct {
	op       int
	kind     Kind
	name, to string
	inode    *inode
}

func (h *History) disk() *Disk {
	d := &Disk{history: h, files: make(map[*inode]*file), names: maps.Clone(h.first)}
	for name, i := range h.first {
		d.files[i] = &file{content: h.base.files[name]}
	}
	return d
}

// At returns how many operations were done.
func (d *Disk) At() int { return d.at }

// differs reports whether an operation changes the possible results of a crash. Operations on
// volatile files do not count (D7).
func (d *Disk) differs(op Op) bool {
	switch op.Kind {
	case Write, Punch, Truncate, Create, Remove, Rename:
		return !d.history.words[op.inode]
	case Sync:
		return len(d.file(op.inode).pending) > 0 && !d.history.words[op.inode]
	case SyncDir:
		return len(d.moves) > 0
	}
	return false
}

// step does the next operation.
func (d *Disk) step(op Op) {
	d.at++
	for _, w := range op.words {
		f := d.file(w.inode)
		f.words = append(f.words, w.data)
	}
	f := d.file(op.inode)
	switch op.Kind {
	case Write:
		f.pending = append(f.pending, change{op: d.at, kind: Write, inode: op.inode, off: op.Off, size: op.N, data: op.data})
	case Punch:
		f.pending = append(f.pending, change{op: d.at, kind: Punch, inode: op.inode, off: op.Off, size: op.N})
	case Truncate:
		f.pending = append(f.pending, change{op: d.at, kind: Truncate, inode: op.inode, off: op.N})
	case Sync:
		f.sync(op.Err != nil)
	case Create, Remove, Rename:
		d.moves = append(d.moves, move{op: d.at, kind: op.Kind, name: op.Name, to: op.To, inode: op.inode})
	case SyncDir:
		d.syncDir(op.Name)
	}
}

func (d *Disk) file(i *inode) *file {
	if i == nil {
		return nil
	}
	f := d.files[i]
	if f == nil {
		f = new(file)
		d.files[i] = f
	}
	return f
}

// sync puts the pending changes on disk (D1), or loses them (D6).
func (f *file) sync(failed bool) {
	if failed {
		for i := range f.pending {
			f.pending[i].lost = true
		}
		return
	}
	content := slices.Clone(f.content)
	for _, c := range f.pending {
		if !c.lost {
			content = c.apply(content)
		}
	}
	f.content, f.pending = content, nil
}

// apply returns the content with the change, whole. The content is changed in place.
func (c *change) apply(content []byte) []byte {
	if c.kind == Truncate {
		return resized(content, c.off)
	}
	return c.part(content, c.off, c.off+c.size)
}

// part returns the content after the change to the bytes from start to stop. A hole does not make
// the file longer (D8).
func (c *change) part(content []byte, start, stop int64) []byte {
	if c.kind == Punch {
		size := int64(len(content))
		clear(content[min(start, size):min(stop, size)])
		return content
	}
	content = resized(content, max(int64(len(content)), stop))
	copy(content[start:stop], c.data[start-c.off:])
	return content
}

func (d *Disk) syncDir(dir string) {
	var rest []move
	for _, m := range d.moves {
		if path.Dir(m.name) == dir || m.kind == Rename && path.Dir(m.to) == dir {
			m.apply(d.names)
		} else {
			rest = append(rest, m)
		}
	}
	d.moves = rest
}

func (m *move) apply(names map[string]*inode) {
	switch m.kind {
	case Create:
		names[m.name] = m.inode
	case Remove:
		delete(names, m.name)
	case Rename:
		delete(names, m.name)
		names[m.to] = m.inode
	}
}

// moved returns the changes of names that may get on disk (D4), except changes of volatile files. A
// lost Remove brings the file back (D5).
func (d *Disk) moved() (list []move) {
	for _, m := range d.moves {
		if !d.history.words[m.inode] {
			list = append(list, m)
		}
	}
	return list
}

// pending returns the changes that may get on disk, in the order in which they were made (D2).
func (d *Disk) pending() (list []change) {
	for i, f := range d.files {
		if !d.history.words[i] {
			list = append(list, f.pending...)
		}
	}
	slices.SortFunc(list, func(a, b change) int { return a.op - b.op })
	return list
}
