package native

import (
	"github.com/foliofs/folio/internal/store"
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

// A history is what a write transaction must know of the snapshots.
type history struct {
	known  bool
	newest int64     // its id; 0 if there is none
	last   int64     // the highest id of all, of removed ones too
	next   store.Ino // of the newest
}

// sees reports whether the newest snapshot may see an inode.
func (h *history) sees(ino store.Ino) bool { return h.newest != 0 && ino < h.next }

// A historyTx is a write transaction in which rows change that snapshots, or clones, need.
type historyTx struct {
	cloneTx
	snapshots history
	was       wasRoom
}

var _ copyOnWrite = (*historyTx)(nil)

// begin makes t the transaction that runs. same says that nothing has changed since the one before.
func (t *historyTx) begin(r *rowsTx, same bool) {
	t.rowsTx = r
	if !same {
		t.snapshots = history{}
	}
	if h, err := t.history(); err != nil || h.newest != 0 || t.hasClones() { // an error comes again
		t.cow = t
	}
}

// beforeNode implements copyOnWrite.
func (t *historyTx) beforeNode(ino store.Ino) error {
	_, err := t.keepNode(ino)
	return err
}

// beforeEntry implements copyOnWrite.
func (t *historyTx) beforeEntry(dir store.Ino, name string, ino store.Ino) error {
	return t.keepEntry(dir, name, ino)
}

// beforeXattr implements copyOnWrite.
func (t *historyTx) beforeXattr(ino store.Ino, name string) error { return t.keepXattr(ino, name) }

// beforeXattrs implements copyOnWrite.
func (t *historyTx) beforeXattrs(ino store.Ino) error { return t.keepXattrs(ino) }

// beforeChunk implements copyOnWrite.
func (t *historyTx) beforeChunk(id int64) error {
	if err := t.keepChunk(id); err != nil {
		return err
	}
	return t.breakShare(id)
}

// beforeCut implements copyOnWrite.
func (t *historyTx) beforeCut(ino store.Ino, first int64) (less int64, err error) {
	if err := t.keepChunks(ino, first); err != nil {
		return 0, err
	}
	return t.breakShares(ino, first)
}

// needsRow implements copyOnWrite: the row of the base would show.
func (t *historyTx) needsRow(id int64) (bool, error) {
	s, err := t.sharing(store.Ino(id >> store.ChunkBits))
	_, shared := s.shares(id)
	return shared, err
}

// CloneContent implements store.Cloner.
func (t *historyTx) CloneContent(from *store.Node, to store.Ino) error {
	t.cow = t
	return t.cloneTx.CloneContent(from, to)
}

// reload lets the next change read the rows of table snapshot again.
func (t *historyTx) reload() { t.snapshots = history{} }

// history returns the history of the volume.
func (t *historyTx) history() (*history, error) {
	h := &t.snapshots
	if h.known {
		return h, nil
	}
	list, err := snapshotRows(&t.db.Rx)
	if err != nil {
		return nil, err
	}
	*h = history{known: true}
	for _, s := range list {
		h.last = s.ID
		if s.Name != "" {
			h.newest, h.next = s.ID, s.next
		}
	}
	return h, nil
}

// A snapshotRow is a row of table snapshot. It has no name if the snapshot was removed.
type snapshotRow struct {
	store.Snapshot
	next store.Ino
}

// snapshotRows returns all rows of table snapshot, none if the volume has no such table.
func snapshotRows(rx *sqlitefile.Rx) (list []snapshotRow, err error) {
	ok, err := hasHistory(rx)
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
		if n := len(list); n > 0 && s.next < list[n-1].next {
			return nil, store.Damaged("snapshot %d has fewer inodes than the one before", s.ID)
		}
		list = append(list, s)
	}
	return list, nil
}

func decodeSnapshot(row *sqlitefile.Row) (s snapshotRow, err error) {
	var v [snapshotColumns]sqlitefile.Value
	if err := row.ValuesUpTo(store.MaxSnapshotName+1, v[:]); err != nil {
		return s, err
	}
	s.ID, s.Time, s.next = row.Rowid(), v[snapshotTime].Int64(), store.Ino(v[snapshotNext].Int64())
	odd := s.ID <= 0 || v[snapshotTime].Kind() != sqlitefile.KindInteger || v[snapshotNext].Kind() != sqlitefile.KindInteger || s.next <= store.Root
	switch kind := v[snapshotName].Kind(); {
	case kind == sqlitefile.KindText:
		s.Name = string(v[snapshotName].Bytes())
		odd = odd || !store.ValidSnapshotName(s.Name)
	case kind != sqlitefile.KindNull:
		odd = true
	}
	if odd {
		return s, store.Damaged("snapshot %d has an impossible row", s.ID)
	}
	return s, nil
}
