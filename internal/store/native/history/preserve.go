package history

import (
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// preserveNode keeps the row of an inode for the newest snapshot (H1), unless it is kept, and tells
// whether any snapshot sees the inode.
func (t *Tx) preserveNode(ino store.Ino) (rowstore.Preserved, error) {
	h, err := t.history()
	if err != nil || !h.sees(ino) {
		return rowstore.Preserved{}, err
	}
	slot := t.Writer.Cache.Node(ino)
	if slot.Ino == ino && slot.Preserved.Snapshot == h.newest {
		return slot.Preserved, nil
	}
	kept, err := t.preserveNodeRow(ino, h)
	if err == nil && slot.Ino == ino {
		slot.Preserved = kept
	}
	return kept, err
}

// preserveNodeRow is preserveNode for an inode that is not remembered.
func (t *Tx) preserveNodeRow(ino store.Ino, h *history) (kept rowstore.Preserved, err error) {
	kept.Snapshot = h.newest
	was, err := t.Table(rowstore.NodeWasTable)
	if err != nil {
		return kept, err
	}
	ok, err := isPreserved(was, h, int64(ino))
	if err != nil {
		return kept, err
	}
	if ok {
		kept.Seen = true
		return kept, nil
	}
	node, err := t.Table(rowstore.NodeTable)
	if err != nil {
		return kept, err
	}
	row, ok, err := node.Get(int64(ino))
	if err != nil || !ok {
		return kept, err
	}
	var v [rowstore.NodeColumns]sqlitefile.Value
	if err := row.ValuesUpTo(rowstore.MaxNumber, v[:]); err != nil {
		return kept, err
	}
	if v[rowstore.NodeNlink].Int64() == 0 { // an orphan, of which an earlier snapshot may see a name
		kept.Seen, err = anyPreserved(was, ino)
		return kept, err
	}
	kept.Seen = true
	_, err = was.Insert(t.was.node(ino, h.newest, &v)...)
	return kept, err
}

// isPreserved reports whether a row of a key is kept that the newest snapshot sees (H1). Mostly it
// is the one of that snapshot itself. After newer snapshots were removed it may be one of these
// (H5).
func isPreserved(was *sqlitefile.TableWriter, h *history, key ...any) (bool, error) {
	key = append(key, h.newest)
	if h.newest == h.last {
		_, ok, err := was.Find(key...)
		return ok, err
	}
	c := was.Cursor()
	ok, err := c.SeekKey(key...)
	if err != nil || !ok {
		return false, err
	}
	var v [rowstore.EntryWasUntil]sqlitefile.Value
	columns := v[:len(key)-1]
	if err := c.ValuesUpTo(rowstore.MaxEntry, columns); err != nil {
		return false, err
	}
	for i := range columns {
		switch want := key[i].(type) {
		case int64:
			ok = ok && columns[i].Kind() == sqlitefile.KindInteger && columns[i].Int64() == want
		case string:
			ok = ok && columns[i].Kind() == sqlitefile.KindText && string(columns[i].Bytes()) == want
		}
	}
	return ok, nil
}

// anyPreserved reports whether a row of an inode was kept for any snapshot.
func anyPreserved(was *sqlitefile.TableWriter, ino store.Ino) (bool, error) {
	c := was.Cursor()
	ok, err := c.SeekKey(int64(ino))
	if err != nil || !ok {
		return false, err
	}
	var v [1]sqlitefile.Value
	err = c.ValuesUpTo(rowstore.MaxNumber, v[:])
	return v[0].Int64() == int64(ino), err
}

// preserveEntry keeps an entry that is about to be removed, or to be replaced by one that leads to
// ino.
func (t *Tx) preserveEntry(dir store.Ino, name string, ino store.Ino) error {
	h, err := t.history()
	if err != nil || !h.sees(dir) {
		return err
	}
	entry, err := t.Table(rowstore.EntryTable)
	if err != nil {
		return err
	}
	var old, typ int64 // 0: the snapshot sees none
	row, ok, err := entry.Find(int64(dir), name)
	if ok && err == nil {
		if old, err = row.Int64(rowstore.EntryIno); err == nil {
			typ, err = row.Int64(rowstore.EntryType)
		}
		if !h.sees(store.Ino(old)) {
			old, typ = 0, 0
		}
	}
	if err != nil || old == 0 && (ino == 0 || !h.sees(ino)) {
		return err
	}
	was, err := t.Table(rowstore.EntryWasTable)
	if err != nil {
		return err
	}
	if ok, err = isPreserved(was, h, int64(dir), name); err != nil || ok {
		return err
	}
	_, err = was.Insert(int64(dir), name, h.newest, old, typ)
	return err
}

// preserveChunk keeps a row of table data that is about to be changed, or made.
func (t *Tx) preserveChunk(id int64) error {
	kept, err := t.preserveNode(store.Ino(id >> store.ChunkBits))
	if err != nil || !kept.Seen {
		return err
	}
	was, err := t.Table(rowstore.DataWasTable)
	if err != nil {
		return err
	}
	h := &t.snapshots
	if ok, err := isPreserved(was, h, id); err != nil || ok {
		return err
	}
	block, err := t.preserveBlock(id)
	if err == nil {
		_, err = was.Insert(id, h.newest, block)
	}
	return err
}

// preserveBlock returns the content of a data row as table data_was has it: itself if it is short,
// or the id of a row of table block, which it adds; 0 if there is no such row. Of a clone it is the
// clone's content (C3).
func (t *Tx) preserveBlock(id int64) (block any, err error) {
	row, ok, err := t.SharedRow(id)
	if err != nil || !ok {
		return int64(0), err
	}
	size, err := rowstore.ChunkSize(&row, id)
	if err != nil || size == 0 {
		return int64(0), err
	}
	chunk := t.Writer.Chunk[:size]
	if err := rowstore.ReadRow(&row, chunk); err != nil {
		return int64(0), err
	}
	if size <= store.MaxInlineBlock {
		return chunk, nil
	}
	blocks, err := t.Table(rowstore.BlockTable)
	if err != nil {
		return int64(0), err
	}
	return blocks.Insert(t.Writer.Row.Data(chunk)...)
}

// preserveChunks keeps the rows of an inode from a chunk on, which are about to be deleted.
func (t *Tx) preserveChunks(ino store.Ino, first int64) error {
	kept, err := t.preserveNode(ino)
	if err != nil || !kept.Seen {
		return err
	}
	var ids []int64
	for c, err := range t.Rx.Chunks(ino, first<<store.ChunkShift) {
		if err != nil {
			return err
		}
		ids = append(ids, c.ID)
	}
	for _, id := range ids {
		if err := t.preserveChunk(id); err != nil {
			return err
		}
	}
	return nil
}

// preserveXattr keeps an extended attribute that is about to be set or removed.
func (t *Tx) preserveXattr(ino store.Ino, name string) error {
	kept, err := t.preserveNode(ino)
	if err != nil || !kept.Seen {
		return err
	}
	was, err := t.Table(rowstore.XattrWasTable)
	if err != nil {
		return err
	}
	h := &t.snapshots
	if ok, err := isPreserved(was, h, int64(ino), name); err != nil || ok {
		return err
	}
	xattr, err := t.Table(rowstore.XattrTable)
	if err != nil {
		return err
	}
	row, ok, err := xattr.Find(int64(ino), name)
	if err != nil {
		return err
	}
	var value any // NULL: none (H3)
	if ok {
		old, err := row.Bytes(rowstore.XattrValue)
		if err != nil {
			return err
		}
		value = append([]byte{}, old...)
	}
	_, err = was.Insert(int64(ino), name, h.newest, value)
	return err
}

// preserveXattrs keeps all extended attributes of an inode, which are about to be removed.
func (t *Tx) preserveXattrs(ino store.Ino) error {
	kept, err := t.preserveNode(ino)
	if err != nil || !kept.Seen {
		return err
	}
	list, err := t.Rx.ReadXattrs(ino)
	for i := range list {
		if err == nil {
			err = t.preserveXattr(ino, list[i].Name)
		}
	}
	return err
}

// A nodeBuffer is memory for the values of a kept inode, as a rowRoom is.
type nodeBuffer struct {
	numbers [rowstore.NodeWasColumns]int64
	values  [rowstore.NodeWasColumns]any
}

// node returns the columns of a kept inode.
func (r *nodeBuffer) node(ino store.Ino, until int64, v *[rowstore.NodeColumns]sqlitefile.Value) []any {
	r.numbers[rowstore.NodeWasIno], r.numbers[rowstore.NodeWasUntil] = int64(ino), until
	for i := rowstore.NodeMode; i < rowstore.NodeColumns; i++ {
		r.numbers[rowstore.NodeWasUntil+i] = v[i].Int64()
	}
	for i := range r.values {
		r.values[i] = &r.numbers[i]
	}
	return r.values[:]
}
