package sqlitefile

import "fmt"

// A mark is when and where a row was read in a write transaction: the clock of the transaction,
// which is never 0, and in the lowest 16 bits the number of the cell. It is 0 in a read
// transaction.
type mark uint64

const markCell = 16 // bits

// setMark notes that the row was just read from cell i of page rec.Pgno.
func (r *Row) setMark(i int) {
	if r.rx.pager.Writing() {
		r.mark = mark(r.rx.pager.Clock()<<markCell | uint64(i))
	}
}

// valid returns an error if the row cannot be read any more.
func (r *Row) valid() error {
	if r.mark == 0 {
		return nil
	}
	return r.refresh()
}

// refresh does the work of valid in a write transaction. A row whose table has not changed, but
// whose page lies elsewhere in memory after a spill, is read again.
func (r *Row) refresh() error {
	rx, s, since := r.rx, r.shape, uint64(r.mark>>markCell)
	if rx.pager.Over {
		return rx.db.pager.PathError("read", ErrClosed)
	}
	root, err := rx.rootOf(s, s.object.Root)
	switch {
	case err != nil:
		return err
	case rx.pager.Changed(root, since):
		return fmt.Errorf("%s: the row was %w", s.name, ErrStale)
	case !rx.pager.Moved(since):
		return nil
	}
	n, err := rx.pager.Node(r.rec.Pgno)
	if err != nil {
		return err
	}
	return rx.load(r, &n, int(r.mark&(1<<markCell-1)), s)
}
