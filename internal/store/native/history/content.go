package history

import (
	"errors"
	"io"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// ReadAt implements store.Rx.
func (r *Rx) ReadAt(n store.Node, p []byte, off int64) (int, error) {
	p, eof := store.Within(&n, p, off)
	if len(p) == 0 {
		return 0, eof
	}
	done := 0
	err := r.guard(func() error { return r.read(&n, p, off, &done) })
	if err == nil {
		err = eof
	}
	return done, err
}

// read fills p, which lies within the file, chunk by chunk, and keeps count in done.
func (r *Rx) read(n *store.Node, p []byte, off int64, done *int) error {
	if r.Live == n.Ino {
		return r.Rx.ReadContent(n, p, off, done)
	}
	data, err := r.Engine.Table("data")
	if err != nil {
		return err
	}
	kept, shown := preservedChunks{r: r}, rowstore.BaseChunks{Rx: r.Rx, Ino: n.Ino}
	for *done < len(p) {
		at := off + int64(*done)
		part := p[*done:min(len(p), *done+store.ChunkSize-int(at%store.ChunkSize))]
		id := store.DataID(n.Ino, at)
		block, ok, err := kept.find(id)
		if err != nil {
			return err
		}
		got := 0
		switch {
		case !ok:
			if got, ok, err = data.ReadAt(id, rowstore.DataBytes, part, at%store.ChunkSize); err == nil && !ok {
				got, err = shown.Read(&data, part, at)
			}
		case block.ID != 0:
			got, err = r.readBlock(n.Ino, block.ID, part, at%store.ChunkSize)
		case at%store.ChunkSize < int64(len(block.Content)):
			got = copy(part, block.Content[at%store.ChunkSize:])
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if got < len(part) && n.Holes == 0 {
			return store.Damaged("inode %d lacks content from byte %d on", n.Ino, at+int64(got))
		}
		clear(part[got:])
		*done += len(part)
	}
	return nil
}

// readBlock reads a part of a content that was kept of an inode.
func (r *Rx) readBlock(ino store.Ino, block int64, p []byte, off int64) (int, error) {
	blocks, err := r.Engine.Table("block")
	if err != nil {
		return 0, err
	}
	got, ok, err := blocks.ReadAt(block, rowstore.BlockBytes, p, off)
	if err == nil && !ok {
		err = store.Damaged("inode %d lacks block %d, which was kept of it", ino, block)
	}
	return got, err
}

// preservedChunks is a place among the kept chunks of an inode.
type preservedChunks struct {
	r     *Rx
	begun bool
	ok    bool // the cursor is at a row, the row of id
	id    int64
}

// A preservedBlock is a content as table data_was has it: in table block, if id is not 0, or the
// content itself, in the database. It is empty if there was no row.
type preservedBlock struct {
	ID      int64
	Content []byte
}

// size returns how many bytes it has.
func (b *preservedBlock) size(blocks *sqlitefile.Table) (int64, error) {
	if b.ID == 0 {
		return int64(len(b.Content)), nil
	}
	row, ok, err := blocks.Get(b.ID)
	if err != nil || !ok {
		return 0, err
	}
	return row.Size(rowstore.BlockBytes)
}

// DecodePreservedBlock decodes a row of table data_was, of which up to maxBlock bytes were read.
func DecodePreservedBlock(v *[rowstore.DataWasColumns]sqlitefile.Value) (b preservedBlock, err error) {
	switch block := v[rowstore.DataWasBlock]; {
	case block.Kind() == sqlitefile.KindInteger && block.Int64() >= 0:
		b.ID = block.Int64()
	case block.Kind() == sqlitefile.KindBlob && len(block.Bytes()) <= store.MaxInlineBlock:
		b.Content = block.Bytes()
	default:
		id := v[rowstore.DataWasID].Int64()
		err = store.Damaged("chunk %d of inode %d was kept in an impossible block", id&(1<<store.ChunkBits-1), id>>store.ChunkBits)
	}
	return b, err
}

// MaxBlock is how many bytes are read of a value of table data_was: one more than a content has.
const MaxBlock = store.MaxInlineBlock + 1

// find returns the row of a chunk that was kept for the snapshot. ok is false if it sees the live
// row. The ids of successive calls must ascend.
func (k *preservedChunks) find(id int64) (block preservedBlock, ok bool, err error) {
	if k.begun && (!k.ok || id < k.id) {
		return block, false, nil // no row is kept before the one of k.id
	}
	c, err := k.r.cursor(&k.r.data, "data_was")
	if err != nil {
		return block, false, err
	}
	k.begun = true
	if k.ok, err = c.SeekKey(id, k.r.ID); err != nil || !k.ok {
		return block, false, err
	}
	var v [rowstore.DataWasColumns]sqlitefile.Value
	if err := c.ValuesUpTo(MaxBlock, v[:]); err != nil {
		return block, false, err
	}
	if k.id = v[rowstore.DataWasID].Int64(); k.id != id {
		return block, false, nil
	}
	block, err = DecodePreservedBlock(&v)
	return block, err == nil, err
}
