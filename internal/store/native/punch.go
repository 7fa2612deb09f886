package native

import (
	"github.com/foliofs/folio/internal/store"
)

var _ store.HolePuncher = (*rowsTx)(nil)

// PunchHole implements store.HolePuncher.
func (t *rowsTx) PunchHole(n *store.Node, off, size int64) error {
	stored := n.Size - n.Holes
	for end := off + size; off < end; {
		next := min(end, (off/store.ChunkSize+1)*store.ChunkSize)
		less, err := t.punch(store.DataID(n.Ino, off), int(off%store.ChunkSize), int(next-off))
		if err != nil {
			return t.fail(err)
		}
		stored -= int64(less)
		if less == 0 {
			if next, err = t.nextStored(n.Ino, next, end); err != nil {
				return t.fail(err)
			}
		}
		off = next
	}
	setStored(n, stored)
	return nil
}

// nextStored returns where the next chunk with a row begins from off on, end if there is none
// before it.
func (t *rowsTx) nextStored(ino store.Ino, off, end int64) (int64, error) {
	for c, err := range t.rx.chunks(ino, off) {
		start := c.ID & (1<<store.ChunkBits - 1) << store.ChunkShift
		return min(end, max(off, start)), err
	}
	return end, nil
}

// punch makes a part of a chunk read as zeros, and returns by how many bytes it holds less.
func (t *rowsTx) punch(id int64, off, size int) (less int, err error) {
	data, err := t.chunkToChange(id)
	if err != nil {
		return 0, err
	}
	row, ok, err := data.Get(id)
	if err != nil || !ok {
		return 0, err
	}
	have, err := chunkSize(&row, id)
	switch {
	case err != nil || off >= have:
		return 0, err
	case off == 0 && size >= have:
		return have, t.empty(id)
	case off+size >= have:
		return t.cutChunk(id, off)
	}
	return 0, data.WriteAt(id, dataBytes, make([]byte, size), int64(off))
}

// empty makes a chunk one of zeros.
func (t *rowsTx) empty(id int64) error {
	data, err := t.changing(dataTable)
	if err != nil {
		return err
	}
	needed := false
	if t.cow != nil {
		if needed, err = t.cow.needsRow(id); err != nil {
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
