package sqlitefile

import "github.com/foliofs/folio/internal/chain"

// ReadAt reads len(p) bytes of a text or BLOB column from offset off on, as ReadAt of the row with
// the given rowid does, if there is one. It is for long values: where they lie is remembered.
func (t Table) ReadAt(rowid int64, column int, p []byte, off int64) (n int, ok bool, err error) {
	rx := t.rx
	if !rx.pager.Writing() { // in a write transaction values move
		if e := rx.pager.Cache.Extents.Find(t.def.Root, rowid, column, off, len(p)); e != nil {
			return len(p), true, rx.pager.ExtentAt(e, p, uint64(off+e.Start))
		}
	}
	row, ok, err := t.Get(rowid)
	if err != nil || !ok {
		return 0, false, err
	}
	n, err = row.ReadAt(column, p, off)
	if row.rec.Overflow != 0 && !rx.pager.Writing() {
		rx.learn(t.def.Root, &row, column)
	}
	return n, true, err
}

// learn remembers where a value lies, as far as a reader has passed its chain and found it
// straight.
func (rx *Rx) learn(root uint32, row *Row, column int) {
	run := rx.pager.Cache.Runs.Length(row.rec.Overflow)
	if run == 0 {
		return
	}
	size, at, dflt, err := row.blob(column)
	if err != nil || dflt != nil {
		return
	}
	start := int64(at) - int64(len(row.rec.Local))
	end := min(size, int64(run+1)*int64(rx.pager.Usable-4)-start)
	rx.pager.Cache.Extents.Learn(chain.Extent{Root: root, Column: column, Rowid: row.rowid, First: row.rec.Overflow, Start: start, End: end})
}
