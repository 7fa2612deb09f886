package native

import (
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// keepNode keeps the row of an inode for the newest snapshot (H1), unless it is kept, and tells
// whether any snapshot sees the inode.
func (t *historyTx) keepNode(ino store.Ino) (keptNode, error) {
	h, err := t.history()
	if err != nil || !h.sees(ino) {
		return keptNode{}, err
	}
	slot := t.w.cache.node(ino)
	if slot.Ino == ino && slot.kept.snapshot == h.newest {
		return slot.kept, nil
	}
	kept, err := t.keepNodeRow(ino, h)
	if err == nil && slot.Ino == ino {
		slot.kept = kept
	}
	return kept, err
}

// keepNodeRow is keepNode for an inode that is not remembered.
func (t *historyTx) keepNodeRow(ino store.Ino, h *history) (kept keptNode, err error) {
	kept.snapshot = h.newest
	was, err := t.table(nodeWasTable)
	if err != nil {
		return kept, err
	}
	ok, err := isKept(was, h, int64(ino))
	if err != nil {
		return kept, err
	}
	if ok {
		kept.seen = true
		return kept, nil
	}
	node, err := t.table(nodeTable)
	if err != nil {
		return kept, err
	}
	row, ok, err := node.Get(int64(ino))
	if err != nil || !ok {
		return kept, err
	}
	var v [nodeColumns]sqlitefile.Value
	if err := row.ValuesUpTo(maxNumber, v[:]); err != nil {
		return kept, err
	}
	if v[nodeNlink].Int64() == 0 { // an orphan, of which an earlier snapshot may see a name
		kept.seen, err = anyKept(was, ino)
		return kept, err
	}
	kept.seen = true
	_, err = was.Insert(t.was.node(ino, h.newest, &v)...)
	return kept, err
}

// isKept reports whether a row of a key is kept that the newest snapshot sees (H1). Mostly it is
// the one of that snapshot itself. After newer snapshots were removed it may be one of these (H5).
func isKept(was *sqlitefile.TableWriter, h *history, key ...any) (bool, error) {
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
	var v [entryWasUntil]sqlitefile.Value
	columns := v[:len(key)-1]
	if err := c.ValuesUpTo(maxEntry, columns); err != nil {
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

// anyKept reports whether a row of an inode was kept for any snapshot.
func anyKept(was *sqlitefile.TableWriter, ino store.Ino) (bool, error) {
	c := was.Cursor()
	ok, err := c.SeekKey(int64(ino))
	if err != nil || !ok {
		return false, err
	}
	var v [1]sqlitefile.Value
	err = c.ValuesUpTo(maxNumber, v[:])
	return v[0].Int64() == int64(ino), err
}

// keepEntry keeps an entry that is about to be removed, or to be replaced by one that leads to ino.
func (t *historyTx) keepEntry(dir store.Ino, name string, ino store.Ino) error {
	h, err := t.history()
	if err != nil || !h.sees(dir) {
		return err
	}
	entry, err := t.table(entryTable)
	if err != nil {
		return err
	}
	var old, typ int64 // 0: the snapshot sees none
	row, ok, err := entry.Find(int64(dir), name)
	if ok && err == nil {
		if old, err = row.Int64(entryIno); err == nil {
			typ, err = row.Int64(entryType)
		}
		if !h.sees(store.Ino(old)) {
			old, typ = 0, 0
		}
	}
	if err != nil || old == 0 && (ino == 0 || !h.sees(ino)) {
		return err
	}
	was, err := t.table(entryWasTable)
	if err != nil {
		return err
	}
	if ok, err = isKept(was, h, int64(dir), name); err != nil || ok {
		return err
	}
	_, err = was.Insert(int64(dir), name, h.newest, old, typ)
	return err
}

// keepChunk keeps a row of table data that is about to be changed, or made.
func (t *historyTx) keepChunk(id int64) error {
	kept, err := t.keepNode(store.Ino(id >> store.ChunkBits))
	if err != nil || !kept.seen {
		return err
	}
	was, err := t.table(dataWasTable)
	if err != nil {
		return err
	}
	h := &t.snapshots
	if ok, err := isKept(was, h, id); err != nil || ok {
		return err
	}
	block, err := t.keepBlock(id)
	if err == nil {
		_, err = was.Insert(id, h.newest, block)
	}
	return err
}

// keepBlock returns the content of a data row as table data_was has it: itself if it is short, or
// the id of a row of table block, which it adds; 0 if there is no such row. Of a clone it is what
// the clone holds (C3).
func (t *historyTx) keepBlock(id int64) (block any, err error) {
	row, ok, err := t.sharedRow(id)
	if err != nil || !ok {
		return int64(0), err
	}
	size, err := chunkSize(&row, id)
	if err != nil || size == 0 {
		return int64(0), err
	}
	chunk := t.w.chunk[:size]
	if err := readRow(&row, chunk); err != nil {
		return int64(0), err
	}
	if size <= store.MaxInlineBlock {
		return chunk, nil
	}
	blocks, err := t.table(blockTable)
	if err != nil {
		return int64(0), err
	}
	return blocks.Insert(t.w.row.data(chunk)...)
}

// keepChunks keeps the rows of an inode from a chunk on, which are about to be deleted.
func (t *historyTx) keepChunks(ino store.Ino, first int64) error {
	kept, err := t.keepNode(ino)
	if err != nil || !kept.seen {
		return err
	}
	var ids []int64
	for c, err := range t.rx.chunks(ino, first<<store.ChunkShift) {
		if err != nil {
			return err
		}
		ids = append(ids, c.ID)
	}
	for _, id := range ids {
		if err := t.keepChunk(id); err != nil {
			return err
		}
	}
	return nil
}

// keepXattr keeps an extended attribute that is about to be set or removed.
func (t *historyTx) keepXattr(ino store.Ino, name string) error {
	kept, err := t.keepNode(ino)
	if err != nil || !kept.seen {
		return err
	}
	was, err := t.table(xattrWasTable)
	if err != nil {
		return err
	}
	h := &t.snapshots
	if ok, err := isKept(was, h, int64(ino), name); err != nil || ok {
		return err
	}
	xattr, err := t.table(xattrTable)
	if err != nil {
		return err
	}
	row, ok, err := xattr.Find(int64(ino), name)
	if err != nil {
		return err
	}
	var value any // NULL: none (H3)
	if ok {
		old, err := row.Bytes(xattrValue)
		if err != nil {
			return err
		}
		value = append([]byte{}, old...)
	}
	_, err = was.Insert(int64(ino), name, h.newest, value)
	return err
}

// keepXattrs keeps all extended attributes of an inode, which are about to be removed.
func (t *historyTx) keepXattrs(ino store.Ino) error {
	kept, err := t.keepNode(ino)
	if err != nil || !kept.seen {
		return err
	}
	list, err := t.rx.xattrs(ino)
	for i := range list {
		if err == nil {
			err = t.keepXattr(ino, list[i].Name)
		}
	}
	return err
}

// A wasRoom is memory for the values of a kept inode, as a rowRoom is.
type wasRoom struct {
	numbers [nodeWasColumns]int64
	values  [nodeWasColumns]any
}

// node returns the columns of a kept inode.
func (r *wasRoom) node(ino store.Ino, until int64, v *[nodeColumns]sqlitefile.Value) []any {
	r.numbers[nodeWasIno], r.numbers[nodeWasUntil] = int64(ino), until
	for i := nodeMode; i < nodeColumns; i++ {
		r.numbers[nodeWasUntil+i] = v[i].Int64()
	}
	for i := range r.values {
		r.values[i] = &r.numbers[i]
	}
	return r.values[:]
}
