package pager

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/internal/dberr"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/wal"
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

// Unreplaced gives ErrMoved if another database was written over the file since the transaction
// began: the pages that were read may be a mixture. That shows in page 1 as soon as it is written,
// and costs only a look at it where the file is mapped; without a map nothing is looked at.
func (rx *Rx) Unreplaced() error {
	if s := rx.Snapshot; s.wal == nil || s.atHome() {
		return nil
	}
	return rx.pager.readers.stillHome(rx.Snapshot)
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

// A Schema is shared by the snapshots that have one schema cookie. The pager knows only which
// snapshots share it. The package above keeps its tables and indexes here.
type Schema struct {
	Known atomic.Value // nil before that package asks
	Mu    sync.Mutex   // that package's, while it reads the schema
}

// newSchema returns the schema of s: the old one if it has not changed.
func newSchema(s, old *Snapshot) *Schema {
	if old != nil && old.Header.SchemaCookie == s.Header.SchemaCookie && old.Header.Encoding == s.Header.Encoding {
		return old.Schema
	}
	return new(Schema)
}

// prepareSchema gives the writer a freelist for the schema of the transaction, and forgets the kit
// of another one.
func (tx *Tx) prepareSchema() {
	w := tx.writer
	if w.schemaOf != tx.Schema {
		w.freelist = btree.NewFreelist(w, &tx.Header)
		w.kit, w.schemaOf = nil, tx.Schema
	}
}

// Kit returns the value that the caller keeps from one write transaction to the next for as long as
// the schema stays, such as b-trees that remember where they were. It calls make where there is
// none.
func (tx *Tx) Kit(make func() any) any {
	tx.prepareSchema()
	w := tx.writer
	if w.kit == nil {
		w.kit = make()
	}
	return w.kit
}

// Corrupt makes the error for a page that breaks the format.
func (rx *Rx) Corrupt(pgno uint32, what string) error {
	return dberr.Corrupt(rx.pager.path, pgno, what)
}
