package pager

import (
	"errors"
	"io"
	"math"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/wal"
)

// An Rx is a read transaction: a snapshot of the database. It belongs to one goroutine at a time,
// and is valid until End.
type Rx struct {
	*Snapshot
	core    *core
	changed *dirtyPages // of a Tx: the pages that were changed but not committed
	Over    bool        // of a Tx: it has ended
}

// ended is the snapshot of a transaction that has ended: none of its pages can be read. A row or a
// cursor of the transaction that is used by mistake gets ErrClosed.
var ended = &Snapshot{PageCount: math.MaxUint32, Cache: new(pageCache), Schema: new(Schema)}

// End ends a transaction that Begin started. Whatever is read through rx afterwards is ErrClosed.
func (rx *Rx) End() {
	s := rx.Snapshot
	rx.Snapshot = ended
	s.lease.Leave()
}

// Unreplaced gives ErrMoved if another database was written over the file since the transaction
// began: the pages that were read may be a mixture. That shows in page 1 as soon as it is written,
// and costs only a look at it where the file is mapped; without a map nothing is looked at.
func (rx *Rx) Unreplaced() error {
	if s := rx.Snapshot; s.wal == nil || s.atHome() {
		return nil
	}
	return rx.stillHome()
}

// Node returns b-tree page pgno.
func (rx *Rx) Node(pgno uint32) (n btree.Node, err error) {
	data, err := rx.Page(pgno)
	if err != nil {
		return n, err
	}
	if !n.Parse(data, pgno) {
		return n, rx.Corrupt(pgno, n.Wrong())
	}
	return n, nil
}

// Writing reports whether the transaction writes: its pages move.
func (rx *Rx) Writing() bool { return rx.changed != nil }

// Corrupt makes the error for a page that breaks the format.
func (rx *Rx) Corrupt(pgno uint32, what string) error {
	return rx.core.corrupt(pgno, what)
}

// stillHome gives ErrMoved if the log does not belong to the file any more. While a checkpoint is
// at work, the answer is no error.
func (rx *Rx) stillHome() error {
	h, ok, err := rx.wal.Index.Load()
	if err != nil || !ok || !errors.Is(rx.wal.Home(&h), wal.ErrReplaced) {
		return err
	}
	return rx.core.movedAway("view", rx.core.file)
}

// Page returns the usable bytes of page pgno: a slice of the map, valid until the transaction ends,
// or of a buffer where the database is read without a map. Numbers outside the database are
// corruption: only a page can name them.
func (rx *Rx) Page(pgno uint32) ([]byte, error) {
	off := (uint64(pgno) - 1) << rx.PageShift // page 0 ends up beyond every map
	if off < uint64(len(rx.Mapped)) {
		return rx.Mapped[off : off+uint64(rx.Usable) : off+1<<rx.PageShift], nil
	}
	return rx.unmappedPage(pgno)
}

// unmappedPage returns a page that rx.mapped does not show: a page that the transaction changed, or
// that is in the log, or any page in plain mode, or the last one of a file that ends in the middle
// of it.
func (rx *Rx) unmappedPage(pgno uint32) ([]byte, error) {
	if rx.Snapshot == ended {
		return nil, rx.core.PathError("read", dberr.ErrClosed)
	}
	if pgno == 0 || pgno > rx.PageCount {
		return nil, rx.Corrupt(pgno, "no such page in the database")
	}
	if rx.changed != nil {
		if data := rx.changed.find(pgno); data != nil {
			return data[:rx.Usable], nil
		}
	}
	if rx.last != 0 {
		if data, err := rx.loggedPage(pgno); data != nil || err != nil {
			return data, err
		}
	}
	if end := uint64(pgno) << rx.PageShift; end <= uint64(len(rx.file)) {
		start := end - 1<<rx.PageShift
		return rx.file[start : start+uint64(rx.Usable) : end], nil
	}
	data := rx.Cache.get(pgno)
	if data == nil {
		var err error
		if data, err = rx.readPage(pgno); err != nil {
			return nil, err
		}
		rx.Cache.put(pgno, data)
	}
	return data[:rx.Usable], nil
}

// readPage reads a page from the file. A last page that is cut off ends in zeros, as SQLite reads
// it.
func (rx *Rx) readPage(pgno uint32) ([]byte, error) {
	data := make([]byte, rx.Header.PageSize)
	off := int64(pgno-1) << rx.PageShift
	n, err := rx.core.file.ReadAt(data, off)
	if rx.wal != nil {
		err = rx.wal.Observer.UnlessChanged(err)
	}
	switch {
	case err == nil, errors.Is(err, io.EOF) && off < rx.size && rx.size <= off+int64(n):
		return data, nil
	case errors.Is(err, io.EOF):
		return nil, rx.Corrupt(pgno, "the file ends before this page does")
	}
	return nil, rx.core.PathError("read", err)
}

// loggedPage returns a page as the log has it, or nil if it does not.
func (rx *Rx) loggedPage(pgno uint32) ([]byte, error) {
	frame, err := rx.frameOf(pgno)
	if frame == 0 || err != nil {
		return nil, err
	}
	data, err := rx.wal.Page(frame)
	if err != nil {
		return nil, err
	}
	return data[:rx.Usable], nil
}

// frameOf returns the frame that holds a page, or 0.
func (rx *Rx) frameOf(pgno uint32) (uint32, error) {
	if rx.frames == nil {
		return rx.wal.Index.Find(pgno, rx.last)
	}
	return rx.frames.Find(rx.wal.Index, pgno, rx.last)
}

// WholePage returns a page with its reserved bytes.
func (rx *Rx) WholePage(pgno uint32) ([]byte, error) {
	data, err := rx.Page(pgno)
	if err != nil {
		return nil, err
	}
	return data[:rx.Header.PageSize], nil
}

// BeforeChange lets h be called before the pages of a write transaction change or move.
func (rx *Rx) BeforeChange(h Holder) {
	c := &rx.changed.changes
	c.holders = append(c.holders, h)
}

// Clock returns the time of a write transaction: a number that grows with each change.
func (rx *Rx) Clock() uint64 { return rx.changed.clock }

// Changed reports whether the b-tree with this root has changed since a time of this transaction
// (K1).
func (rx *Rx) Changed(root uint32, since uint64) bool {
	c := &rx.changed.changes
	if c.clock == since {
		return false
	}
	at := c.trees.Get(root)
	return c.all > since || at != nil && *at > since
}

// Moved reports whether pages may be elsewhere in memory than at a time of this transaction (K2).
func (rx *Rx) Moved(since uint64) bool { return rx.changed.moved > since }
