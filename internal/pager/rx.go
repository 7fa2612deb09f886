package pager

import (
	"math"

	"github.com/foliofs/folio/internal/wal"

	"github.com/foliofs/folio/internal/btree"
)

// An Rx is a read transaction: a snapshot of the database. It belongs to one goroutine at a time,
// and is valid until End.
type Rx struct {
	*Snapshot
	pager   *Pager
	changed *writer // of a Tx: the pages that were changed but not committed
	Over    bool    // of a Tx: it has ended
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

// Log returns the log that the snapshot is read from; nil in rollback mode.
func (s *Snapshot) Log() *wal.Log { return s.wal }

// LastFrame returns the last frame of the log that belongs to the snapshot; 0 if the file has
// everything.
func (s *Snapshot) LastFrame() uint32 { return s.last }
