package btree

import (
	"math"
)

// InsertRow adds a row, unless there is one with this rowid. The record is the concatenation of its
// parts.
func (t *Tree) InsertRow(rowid int64, record ...[]byte) (added bool, err error) {
	found, err := t.SeekRow(rowid)
	if found || err != nil {
		return false, err
	}
	return true, t.insert(NewEntry(rowid, record))
}

// ReplaceRow gives a row another record, if there is one with this rowid.
func (t *Tree) ReplaceRow(rowid int64, record ...[]byte) (found bool, err error) {
	if found, err = t.SeekRow(rowid); found && err == nil {
		err = t.Replace(NewEntry(rowid, record))
	}
	return found, err
}

// DeleteRow deletes the row with this rowid, if there is one.
func (t *Tree) DeleteRow(rowid int64) (found bool, err error) {
	if found, err = t.SeekRow(rowid); found && err == nil {
		err = t.remove()
	}
	return found, err
}

// LastRowid returns the greatest rowid, if there is a row.
func (t *Tree) LastRowid() (rowid int64, ok bool, err error) {
	if _, err = t.SeekRow(math.MaxInt64); err != nil {
		return 0, false, err
	}
	n, err := t.Node(t.Steps[t.Depth].Pgno)
	if err != nil || n.Cells == 0 {
		return 0, false, err
	}
	if rowid, ok = n.Rowid(n.Cells - 1); !ok {
		return 0, false, t.fault(&n, FaultCell)
	}
	return rowid, true, nil
}

// InsertKey adds a record to an index, unless there is one with the same first values, in as many
// columns as unique says: all that the index is ordered by if it is 0. Entry tells which one is
// there then.
func (t *Tree) InsertKey(record []byte, unique int) (added bool, err error) {
	if unique == 0 {
		unique = len(t.columns)
	}
	found, err := t.SeekKey(record, unique)
	if found || err != nil {
		return false, err
	}
	t.Ws.Parts[0] = record
	return true, t.insert(NewEntry(0, t.Ws.Parts[:]))
}

// PutKey adds a record to an index, in place of the record that is equal in the columns that the
// index is ordered by, if there is one.
func (t *Tree) PutKey(record []byte) (found bool, err error) {
	found, err = t.SeekKey(record, len(t.columns))
	t.Ws.Parts[0] = record
	switch {
	case err != nil:
	case found:
		err = t.Replace(NewEntry(0, t.Ws.Parts[:]))
	default:
		err = t.insert(NewEntry(0, t.Ws.Parts[:]))
	}
	return found, err
}

// DeleteKey deletes the record that is equal in the columns that the index is ordered by, if there
// is one.
func (t *Tree) DeleteKey(record []byte) (found bool, err error) {
	if found, err = t.SeekKey(record, len(t.columns)); found && err == nil {
		err = t.remove()
	}
	return found, err
}

// Entry returns the record that the last search found, in memory that the next call may overwrite.
func (t *Tree) Entry() ([]byte, error) {
	at := t.Steps[t.Depth]
	n, err := t.Node(at.Pgno)
	if err != nil {
		return nil, err
	}
	c, err := t.Cell(&n, at.Cell)
	if err != nil {
		return nil, err
	}
	t.Ws.record, err = t.appendPayload(t.Ws.record[:0], &c)
	return t.Ws.record, err
}
