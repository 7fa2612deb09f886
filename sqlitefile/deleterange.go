package sqlitefile

import (
	"cmp"
	"slices"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/record"
)

// A range of rows is deleted in one of three ways, the first that keeps the database true:
//
//	foreign keys refer to the table   row by row, as each row may have children to look at
//	the table has indexes             in batches: read rows, delete their entries, drop the rows
//	neither                           drop the rows
//
// To drop rows means to take whole leaves out of the b-tree (btree.deletePart). A leaf whose rows
// all go is read once, to count its rows and to find their overflow pages, and then goes to the
// freelist. It is neither written nor balanced with its neighbors. That is why a range of a million
// rows costs as much as its pages do, and not as much as its rows.
//
// A batch deletes the entries of an index in the order of the index. Entries of one leaf are then
// deleted one after the other, while the leaf and the way to it are at hand. In the order of the
// rows, each entry of an index over random values would be looked for from the root.

// deleteBatch is how many bytes of index entries a batch of DeleteRange keeps in memory.
const deleteBatch = 4 << 20

// DeleteRange deletes the rows with low <= rowid <= high and returns how many there were. It takes
// whole pages out of the table if it can, and is then much faster than Delete for each row.
func (t TableWriter) DeleteRange(low, high int64) (n int64, err error) {
	if err := t.ready(); err != nil {
		return 0, err
	}
	if t.def.Key != nil {
		return 0, errNoRowid(&t.def.shape)
	}
	switch foreign := t.state.foreign; {
	case foreign != nil && len(foreign.referring) > 0:
		return t.deleteRows(low, high)
	case len(t.state.indexes) > 0:
		return t.deleteIndexed(low, high)
	}
	return t.dropRows(low, high)
}

// deleteRows deletes a range row by row.
func (t TableWriter) deleteRows(low, high int64) (n int64, err error) {
	if t.enforces() {
		err = t.statement(func() (err error) { n, err = t.deleteRows(low, high); return err })
		return n, err
	}
	for {
		c := t.Cursor()
		ok, err := c.SeekRowid(low)
		if err != nil || !ok {
			return n, err
		}
		row, err := c.Row()
		if err != nil || row.rowid > high {
			return n, err
		}
		if row.rowid < low {
			return n, t.tx.pager.Corrupt(t.def.Root, faultLost)
		}
		low = row.rowid
		if ok, err := t.Delete(low); err != nil || !ok {
			return n, cmp.Or(err, t.tx.pager.Corrupt(t.def.Root, faultLost))
		}
		if n++; low == btree.MaxRowid {
			return n, nil
		}
		low++
	}
}

// dropRows deletes a range that no index has entries of. Memory is bounded: between two leaves,
// pages that the transaction changed may be spilled.
func (t TableWriter) dropRows(low, high int64) (n int64, err error) {
	for more := low <= high; more; {
		if err := t.ready(); err != nil {
			return n, err
		}
		var rows int
		rows, low, more, err = t.state.tree.DeletePart(low, high)
		if n += int64(rows); err != nil {
			return n, t.spoil(err)
		}
	}
	return n, nil
}

// deleteIndexed deletes a range, and the entries that indexes have of it, in batches.
func (t TableWriter) deleteIndexed(low, high int64) (n int64, err error) {
	entries := make([]entryBatch, len(t.state.indexes))
	for low <= high {
		if err := t.ready(); err != nil {
			return n, err
		}
		rows, last, more, err := t.readBatch(entries, low, high)
		if err != nil {
			return n, err
		}
		for i, x := range t.state.indexes {
			if err := t.deleteBatch(x, &entries[i]); err != nil {
				return n, err
			}
		}
		dropped, err := t.dropRows(low, last)
		if err == nil && dropped != rows {
			err = t.spoil(t.tx.pager.Corrupt(t.def.Root, faultLost))
		}
		if n += dropped; err != nil || !more {
			return n, err
		}
		low = last + 1
	}
	return n, nil
}

// readBatch reads the entries that the indexes have of rows of a range, from rowid low on. It
// returns how many rows it read, the last rowid of the batch, and whether the range has more.
func (t TableWriter) readBatch(entries []entryBatch, low, high int64) (rows, last int64, more bool, err error) {
	for i := range entries {
		entries[i].reset()
	}
	size := 0
	for row, err := range t.Range(low, high) {
		if err == nil && (row.rowid < low || rows > 0 && row.rowid <= last) {
			err = t.tx.pager.Corrupt(t.def.Root, btree.FaultRowids)
		}
		if err != nil {
			return 0, 0, false, err
		}
		for i, x := range t.state.indexes {
			if x.old, err = x.recordOf(t.tx, x.old, &row); err != nil {
				return 0, 0, false, err
			}
			size += entries[i].add(x.old)
		}
		if rows, last = rows+1, row.rowid; size >= deleteBatch {
			return rows, last, last < high, nil
		}
	}
	return rows, high, false, nil
}

// deleteBatch deletes entries of an index, in its order.
func (t TableWriter) deleteBatch(x *indexState, entries *entryBatch) error {
	entries.sort(x.def.Key)
	for entry := range entries.all {
		if err := t.ready(); err != nil {
			return err
		}
		if err := x.remove(entry); err != nil {
			return t.spoil(err)
		}
	}
	return nil
}

// An entryBatch is entries of one index: their records, one behind another in one piece of memory.
type entryBatch struct {
	data  []byte
	spans []entrySpan
}

// An entrySpan is the place of a record in its page.
type entrySpan struct{ from, to int }

func (b *entryBatch) reset() { b.data, b.spans = b.data[:0], b.spans[:0] }

// add adds a record, unless it is empty, and returns how many bytes of memory that takes.
func (b *entryBatch) add(entry []byte) (size int) {
	if len(entry) == 0 {
		return 0 // the index is partial and lacks the row
	}
	from := len(b.data)
	b.data = append(b.data, entry...)
	b.spans = append(b.spans, entrySpan{from, len(b.data)})
	return len(entry) + 16
}

// sort sorts the records by columns of theirs.
func (b *entryBatch) sort(order record.Order) {
	slices.SortFunc(b.spans, func(x, y entrySpan) int {
		return order.Compare(b.data[x.from:x.to], b.data[y.from:y.to])
	})
}

// all yields the records in order.
func (b *entryBatch) all(yield func(entry []byte) bool) {
	for _, s := range b.spans {
		if !yield(b.data[s.from:s.to]) {
			return
		}
	}
}
