package native

import (
	"github.com/foliofs/folio/internal/store"
)

var _ store.HolePuncher = (*tx)(nil)

// PunchHole implements store.HolePuncher.
func (t *tx) PunchHole(n *store.Node, off, size int64) error {
	s, err := t.sharing(n.Ino)
	if err != nil {
		return t.fail(err)
	}
	stored := n.Size - n.Holes
	for end := off + size; off < end; {
		next := min(end, (off/store.ChunkSize+1)*store.ChunkSize)
		less, err := t.punch(&s, store.DataID(n.Ino, off), int(off%store.ChunkSize), int(next-off))
		if err != nil {
			return t.fail(err)
		}
		stored -= int64(less)
		if less == 0 {
			if next, err = t.nextStored(&s, n.Ino, next, end); err != nil {
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
func (t *tx) nextStored(s *sharing, ino store.Ino, off, end int64) (int64, error) {
	if s.chunks > 0 {
		for c, err := range t.rx.chunks(ino, off) {
			start := c.ID & (1<<store.ChunkBits - 1) << store.ChunkShift
			return min(end, max(off, start)), err
		}
		return end, nil
	}
	data, err := t.table(dataTable)
	if err != nil {
		return 0, err
	}
	c := data.Cursor()
	ok, err := c.SeekRowid(store.DataID(ino, off))
	if err != nil || !ok {
		return end, err
	}
	row, err := c.Row()
	if err != nil || row.Rowid()>>store.ChunkBits != int64(ino) {
		return end, err
	}
	start := row.Rowid() & (1<<store.ChunkBits - 1) << store.ChunkShift
	return min(end, max(off, start)), nil
}

// punch makes a part of a chunk read as zeros, and returns by how many bytes it holds less.
func (t *tx) punch(s *sharing, id int64, off, size int) (less int, err error) {
	data, err := t.changing(dataTable)
	if err != nil {
		return 0, err
	}
	if err := t.beforeChange(s, id); err != nil {
		return 0, err
	}
	row, own, ok, err := t.heldRow(data, s, id)
	if err != nil || !ok {
		return 0, err
	}
	have, err := chunkSize(&row, id)
	switch {
	case err != nil || off >= have:
		return 0, err
	case off == 0 && size >= have:
		return have, t.empty(s, id, own)
	case off+size >= have:
		return t.cutChunk(s, id, off)
	}
	if !own {
		if err := t.own(s, id); err != nil {
			return 0, err
		}
	}
	return 0, data.WriteAt(id, dataBytes, make([]byte, size), int64(off))
}

// empty makes a chunk one of zeros. If the row of the base would show through, that takes a row of
// no bytes (C1).
func (t *tx) empty(s *sharing, id int64, own bool) error {
	data, err := t.changing(dataTable)
	if err != nil {
		return err
	}
	_, shared := s.shares(id)
	switch {
	case !own:
		err = data.InsertRowid(id, t.s.row.data([]byte{})...)
	case shared:
		_, err = data.Update(id, id, []byte{})
	default:
		_, err = data.Delete(id)
	}
	return err
}
