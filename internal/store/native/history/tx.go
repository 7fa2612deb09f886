package history

import (
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/clone"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// A volume with snapshots keeps each row that a snapshot sees before the row is changed for the
// first time after it. It keeps it in a table of its own: node_was, entry_was, data_was with block,
// and xattr_was. A kept row has the number of the newest snapshot in its column until. Rows are not
// touched when a snapshot is made.
//
// Invariants:
//
//	H1  A snapshot sees of each key the kept row with the smallest until that is not less than the
//	    snapshot's id. If there is none, it sees the row of the live table.
//	H2  A snapshot does not see inodes, nor entries that lead to inodes, from its next on. They were
//	    made later, as no number is given twice. So nothing is kept of them.
//	H3  A kept row that says that there was none has entry_was.ino 0, data_was.block 0, or a NULL in
//	    xattr_was.value. Inodes need none, by H2.
//	H4  Each row of block belongs to one row of data_was. A content of up to store.MaxInlineBlock
//	    bytes lies in data_was itself.
//	H5  Ids of snapshots ascend. The row of a removed snapshot stays, without a name, until no kept
//	    row needs it, and as long as it is the last one: so that its id is not given again.
//	H6  If a snapshot sees a kept row of data or xattr, it sees a kept row of their inode.

// A history holds the state of the snapshots that a write transaction needs.
type history struct {
	known  bool
	newest int64     // its id; 0 if there is none
	last   int64     // the highest id of all, of removed ones too
	next   store.Ino // of the newest
}

// sees reports whether the newest snapshot may see an inode.
func (h *history) sees(ino store.Ino) bool { return h.newest != 0 && ino < h.next }

// A Tx is a write transaction in which rows change that snapshots, or clones, need.
type Tx struct {
	clone.Tx
	snapshots history
	was       nodeBuffer
}

var _ rowstore.CopyOnWrite = (*Tx)(nil)

// Begin makes t the transaction that runs. same says that nothing has changed since the one before.
func (t *Tx) Begin(r *rowstore.Tx, same bool) {
	t.Tx.Tx = r
	if !same {
		t.snapshots = history{}
	}
	if h, err := t.history(); err != nil || h.newest != 0 || t.HasClones() { // an error comes again
		t.CopyOnWrite = t
	}
}

// BeforeNode implements rowstore.CopyOnWrite.
func (t *Tx) BeforeNode(ino store.Ino) error {
	_, err := t.preserveNode(ino)
	return err
}

// BeforeEntry implements rowstore.CopyOnWrite.
func (t *Tx) BeforeEntry(dir store.Ino, name string, ino store.Ino) error {
	return t.preserveEntry(dir, name, ino)
}

// BeforeXattr implements rowstore.CopyOnWrite.
func (t *Tx) BeforeXattr(ino store.Ino, name string) error { return t.preserveXattr(ino, name) }

// BeforeXattrs implements rowstore.CopyOnWrite.
func (t *Tx) BeforeXattrs(ino store.Ino) error { return t.preserveXattrs(ino) }

// BeforeChunk implements rowstore.CopyOnWrite.
func (t *Tx) BeforeChunk(id int64) error {
	if err := t.preserveChunk(id); err != nil {
		return err
	}
	return t.BreakShare(id)
}

// BeforeCut implements rowstore.CopyOnWrite.
func (t *Tx) BeforeCut(ino store.Ino, first int64) (less int64, err error) {
	if err := t.preserveChunks(ino, first); err != nil {
		return 0, err
	}
	return t.BreakShares(ino, first)
}

// NeedsRow implements rowstore.CopyOnWrite: the row of the base would show.
func (t *Tx) NeedsRow(id int64) (bool, error) {
	s, err := t.Sharing(store.Ino(id >> store.ChunkBits))
	_, shared := s.Shares(id)
	return shared, err
}

// CloneContent implements store.Cloner.
func (t *Tx) CloneContent(from *store.Node, to store.Ino) error {
	t.CopyOnWrite = t
	return t.Tx.CloneContent(from, to)
}

// Reload lets the next change read the rows of table snapshot again.
func (t *Tx) Reload() { t.snapshots = history{} }

// history returns the history of the volume.
func (t *Tx) history() (*history, error) {
	h := &t.snapshots
	if h.known {
		return h, nil
	}
	list, err := SnapshotRows(&t.DB.Rx)
	if err != nil {
		return nil, err
	}
	*h = history{known: true}
	for _, s := range list {
		h.last = s.ID
		if s.Name != "" {
			h.newest, h.next = s.ID, s.Next
		}
	}
	return h, nil
}

// A SnapshotRow is a row of table snapshot. It has no name if the snapshot was removed.
type SnapshotRow struct {
	store.Snapshot
	Next store.Ino
}

// SnapshotRows returns all rows of table snapshot, none if the volume has no such table.
func SnapshotRows(rx *sqlitefile.Rx) (list []SnapshotRow, err error) {
	ok, err := rowstore.HasHistory(rx)
	if err != nil || !ok {
		return nil, err
	}
	t, err := rx.Table("snapshot")
	if err != nil {
		return nil, err
	}
	for row, err := range t.All() {
		if err != nil {
			return nil, err
		}
		s, err := decodeSnapshot(&row)
		if err != nil {
			return nil, err
		}
		if n := len(list); n > 0 && s.Next < list[n-1].Next {
			return nil, store.Damaged("snapshot %d has fewer inodes than the one before", s.ID)
		}
		list = append(list, s)
	}
	return list, nil
}

func decodeSnapshot(row *sqlitefile.Row) (s SnapshotRow, err error) {
	var v [rowstore.SnapshotColumns]sqlitefile.Value
	if err := row.ValuesUpTo(store.MaxSnapshotName+1, v[:]); err != nil {
		return s, err
	}
	s.ID, s.Time, s.Next = row.Rowid(), v[rowstore.SnapshotTime].Int64(), store.Ino(v[rowstore.SnapshotNext].Int64())
	odd := s.ID <= 0 || v[rowstore.SnapshotTime].Kind() != sqlitefile.KindInteger || v[rowstore.SnapshotNext].Kind() != sqlitefile.KindInteger || s.Next <= store.Root
	switch kind := v[rowstore.SnapshotName].Kind(); {
	case kind == sqlitefile.KindText:
		s.Name = string(v[rowstore.SnapshotName].Bytes())
		odd = odd || !store.ValidSnapshotName(s.Name)
	case kind != sqlitefile.KindNull:
		odd = true
	}
	if odd {
		return s, store.Damaged("snapshot %d has an impossible row", s.ID)
	}
	return s, nil
}
