package overlay

import (
	"errors"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/store"
)

// The content of a file that was copied up lies in both stores. Invariants:
//
//	C1  A chunk with a row in the upper store is read from there, zeros behind the end of the row
//	    included.
//	C2  Any other chunk is read from the base up to Record.Limit, and reads as zeros behind it.
//	C3  Limit is never greater than the size of the file, nor than the size of the base's file.

// chunkStart returns the offset at which the chunk with an offset begins.
func chunkStart(off int64) int64 { return off &^ (store.ChunkSize - 1) }

// A mix is a file that was copied up, of which chunks are read from the base.
type mix struct {
	node store.Node // in the upper store
	rec  *Record
}

// mixOf returns the mix of a file of the upper store, nil if the base has no part in its content.
func (r *rx) mixOf(n *store.Node) (*mix, error) {
	if !n.IsRegular() || n.Holes == 0 {
		return nil, nil
	}
	rec, err := r.record(n.Ino)
	if err != nil || rec == nil || rec.Limit == 0 {
		return nil, err
	}
	if rec.Limit > n.Size {
		return nil, store.Damaged("inode %d is shorter than the part of it that is read from the base", n.Ino)
	}
	return &mix{*n, rec}, nil
}

// ReadAt implements store.Rx.
func (r *rx) ReadAt(n store.Node, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	s, err := r.find(n.Ino)
	if err != nil {
		return 0, err
	}
	if s.isLower() {
		return r.readLower(&n, s.place, p, off)
	}
	m, err := r.mixOf(&s.node)
	if err != nil {
		return 0, err
	}
	if m == nil {
		n.Ino = s.node.Ino
		return r.up.ReadAt(n, p, off)
	}
	p, eof := store.Within(&n, p, off)
	if len(p) == 0 {
		return 0, eof
	}
	if err := r.readMix(m, p, off); err != nil {
		return 0, err
	}
	return len(p), eof
}

// readLower reads a file that is only in the base.
func (r *rx) readLower(n *store.Node, at int32, p []byte, off int64) (int, error) {
	p, eof := store.Within(n, p, off)
	if len(p) == 0 {
		return 0, eof
	}
	name := r.s.numbers.path(at)
	if store.TypeOf(n.Mode) == store.Symlink {
		target, err := r.s.base.readLink(name)
		if err == nil && int64(len(target)) < off+int64(len(p)) {
			err = ErrBaseChanged
		}
		if err != nil {
			return 0, err
		}
		return copy(p, target[off:]), eof
	}
	err := r.s.base.readAt(name, version{n.Size, n.Mtime}, p, off)
	if errors.Is(err, ErrBaseChanged) { // nothing of it is copied: it is read as it is
		var now store.Node
		if now, err = r.s.base.stat(name); err == nil {
			err = r.s.base.readAt(name, version{now.Size, now.Mtime}, p, off)
		}
	}
	if err != nil {
		return 0, err
	}
	return len(p), eof
}

// readMix fills p, which lies within the file.
func (r *rx) readMix(m *mix, p []byte, off int64) error {
	for len(p) > 0 {
		end, stored, err := r.run(m, off)
		if err != nil {
			return err
		}
		part := p[:min(int64(len(p)), end-off)]
		if stored {
			_, err = r.up.ReadAt(m.node, part, off)
			if errors.Is(err, io.EOF) {
				err = nil
			}
		} else {
			err = r.readBase(m.rec, part, off)
		}
		if err != nil {
			return err
		}
		p, off = p[len(part):], off+int64(len(part))
	}
	return nil
}

// run returns where the run of chunks ends that begins at off and that are all in the upper store,
// or all not.
func (r *rx) run(m *mix, off int64) (end int64, stored bool, err error) {
	start := chunkStart(off)
	data, err := r.up.NextData(m.node, start)
	if err != nil {
		return 0, false, err
	}
	if data >= start+store.ChunkSize || data >= m.node.Size {
		return max(data, off+1), false, nil
	}
	hole, err := r.up.NextHole(m.node, start)
	return max(chunkStart(hole+store.ChunkSize-1), off+1), true, err
}

// readBase fills p from the base (C2).
func (r *rx) readBase(rec *Record, p []byte, off int64) error {
	from := p[:max(0, min(int64(len(p)), rec.Limit-off))]
	clear(p[len(from):])
	return r.s.base.readAt(rec.Path, version{rec.Size, rec.Mtime}, from, off)
}

// NextData implements store.Rx.
func (r *rx) NextData(n store.Node, off int64) (int64, error) {
	up, known, err := r.holes(&n)
	if !known || err != nil {
		return min(off, n.Size), err
	}
	return r.up.NextData(up, off)
}

// NextHole implements store.Rx.
func (r *rx) NextHole(n store.Node, off int64) (int64, error) {
	up, known, err := r.holes(&n)
	if !known || err != nil {
		return n.Size, err
	}
	return r.up.NextHole(up, off)
}

// holes returns the inode of the upper store that records the holes of a file. known is false if a
// part of the content comes from the base: then all of it counts as data.
func (r *rx) holes(n *store.Node) (up store.Node, known bool, err error) {
	s, err := r.find(n.Ino)
	if err != nil || s.isLower() {
		return up, false, err
	}
	m, err := r.mixOf(&s.node)
	up = *n
	up.Ino = s.node.Ino
	return up, m == nil && err == nil, err
}
