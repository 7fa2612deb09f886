package rowstore

import (
	"github.com/foliofs/folio/internal/store"
)

var _ store.HolePuncher = (*Tx)(nil)

// PunchHole implements store.HolePuncher.
func (t *Tx) PunchHole(n *store.Node, off, size int64) error {
	stored := n.Size - n.Holes
	for end := off + size; off < end; {
		next := min(end, (off/store.ChunkSize+1)*store.ChunkSize)
		less, err := t.punch(store.DataID(n.Ino, off), int(off%store.ChunkSize), int(next-off))
		if err != nil {
			return t.Fail(err)
		}
		stored -= int64(less)
		if less == 0 {
			if next, err = t.nextStored(n.Ino, next, end); err != nil {
				return t.Fail(err)
			}
		}
		off = next
	}
	n.SetStored(stored)
	return nil
}

// nextStored returns where the next chunk with a row begins from off on, end if there is none
// before it.
func (t *Tx) nextStored(ino store.Ino, off, end int64) (int64, error) {
	for c, err := range t.Rx.Chunks(ino, off) {
		start := c.ID & (1<<store.ChunkBits - 1) << store.ChunkShift
		return min(end, max(off, start)), err
	}
	return end, nil
}

// punch makes a part of a chunk read as zeros, and returns by how many bytes it holds less.
func (t *Tx) punch(id int64, off, size int) (less int, err error) {
	data, err := t.chunkToChange(id)
	if err != nil {
		return 0, err
	}
	row, ok, err := data.Get(id)
	if err != nil || !ok {
		return 0, err
	}
	have, err := ChunkSize(&row, id)
	switch {
	case err != nil || off >= have:
		return 0, err
	case off == 0 && size >= have:
		return have, t.empty(id)
	case off+size >= have:
		return t.cutChunk(id, off)
	}
	return 0, data.WriteAt(id, DataBytes, make([]byte, size), int64(off))
}

// empty makes a chunk one of zeros.
func (t *Tx) empty(id int64) error {
	data, err := t.Changing(DataTable)
	if err != nil {
		return err
	}
	needed := false
	if t.CopyOnWrite != nil {
		if needed, err = t.CopyOnWrite.NeedsRow(id); err != nil {
			return err
		}
	}
	if needed {
		_, err = data.Update(id, id, []byte{})
	} else {
		_, err = data.Delete(id)
	}
	return err
}
