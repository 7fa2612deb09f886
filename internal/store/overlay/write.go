package overlay

import (
	"errors"
	"io"

	"github.com/foliofs/folio/internal/store"
)

// WriteAt implements store.Tx. Of a file of the base it copies the chunks that p does not cover as
// a whole.
func (t *tx) WriteAt(n *store.Node, p []byte, off int64) error {
	if err := store.CheckWrite(off, len(p)); err != nil || len(p) == 0 {
		return err
	}
	return t.changeContent(n, func(m *mix) error {
		if m.rec.Limit > 0 {
			end := off + int64(len(p))
			if err := t.copyChunk(m, off, end, off); err != nil {
				return err
			}
			if err := t.copyChunk(m, off, end, end-1); err != nil {
				return err
			}
		}
		return t.up.WriteAt(&m.node, p, off)
	})
}

// Truncate implements store.Tx.
func (t *tx) Truncate(n *store.Node, size int64) error {
	if err := store.CheckSize(size); err != nil {
		return err
	}
	return t.changeContent(n, func(m *mix) error {
		if size < m.rec.Limit {
			m.rec.Limit = size
			if err := t.up.SetXattr(m.node.Ino, attrRecord, m.rec.encode()); err != nil {
				return err
			}
		}
		return t.up.Truncate(&m.node, size)
	})
}

// PunchHole implements store.HolePuncher.
func (t *tx) PunchHole(n *store.Node, off, size int64) error {
	return t.changeContent(n, func(m *mix) error {
		for end := off + size; off < end; {
			next := min(end, chunkStart(off)+store.ChunkSize)
			if off >= m.rec.Limit {
				next = end
			} else if err := t.copyChunk(m, off, next, off); err != nil {
				return err
			}
			if err := t.zero(m, off, next-off); err != nil {
				return err
			}
			if start := chunkStart(off); start < m.rec.Limit {
				if err := t.cover(m, start); err != nil {
					return err
				}
			}
			off = next
		}
		return nil
	})
}

// cover makes a chunk that has no row one of zeros that has one (C1).
func (t *tx) cover(m *mix, start int64) error {
	_, stored, err := t.run(m, start)
	if err != nil || stored {
		return err
	}
	return t.up.WriteAt(&m.node, []byte{0}, start)
}

// zero makes a part of a content of the upper store zeros.
func (t *tx) zero(m *mix, off, size int64) error {
	if h, ok := t.up.(store.HolePuncher); ok {
		return h.PunchHole(&m.node, off, size)
	}
	zeros := make([]byte, min(size, wholePiece))
	for size > 0 {
		part := zeros[:min(size, wholePiece)]
		if err := t.up.WriteAt(&m.node, part, off); err != nil {
			return err
		}
		off, size = off+int64(len(part)), size-int64(len(part))
	}
	return nil
}

// changeContent calls fn for a file with a record, and puts its inode. Any other file is
// independent of the base: the limit in its record is 0, and the caller puts it.
func (t *tx) changeContent(n *store.Node, fn func(m *mix) error) error {
	upper, err := t.ensure(n.Ino)
	if err != nil {
		return err
	}
	m := &mix{node: *n, rec: new(Record)}
	m.node.Ino = upper
	rec, err := t.record(upper)
	if err != nil {
		return err
	}
	if rec != nil {
		m.rec = rec
		if m.node, err = t.up.Node(upper); err != nil {
			return err
		}
	}
	if err := fn(m); err != nil {
		return err
	}
	n.Size, n.Holes = m.node.Size, m.node.Holes
	if rec == nil {
		return nil
	}
	if rec.Limit > 0 {
		n.Holes = 0
	}
	return t.up.Put(&m.node)
}

// copyChunk copies the chunk with the byte at at from the base, unless it is in the upper store, or
// all of it that the base shows lies from off to end and is about to be written.
func (t *tx) copyChunk(m *mix, off, end, at int64) error {
	start := chunkStart(at)
	stop := min(start+store.ChunkSize, m.rec.Limit)
	if start >= stop || off <= start && end >= stop {
		return nil
	}
	_, stored, err := t.run(m, start)
	if err != nil || stored {
		return err
	}
	p := make([]byte, stop-start)
	if err := t.readBase(m.rec, p, start); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	return t.up.WriteAt(&m.node, p, start)
}
