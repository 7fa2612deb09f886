package sqlitefile

import (
	"context"

	"github.com/foliofs/folio/internal/osfile"
)

// A Tx is a write transaction: a snapshot that it can change, and that sees its own changes. It is valid until the function given to
// Update returns.
type Tx struct {
	Rx
	writer *writer
	id     uint64
	undo   map[uint32]*dirtyPage // what was in writer.pages before; nil for a page that was not
	size   uint32                // writer.size before
	over   bool
}

// begin starts a transaction on what the ones before have left.
func (w *writer) begin(db *DB) *Tx {
	s := *w.base
	s.mapped, s.pages, s.cache = nil, w.size, new(pageCache)
	w.txs++
	tx := &Tx{Rx: Rx{snapshot: &s, db: db, changed: w}, writer: w, id: w.txs, undo: make(map[uint32]*dirtyPage), size: w.size}
	return tx
}

// call calls fn with the guard of View.
func (tx *Tx) call(ctx context.Context, fn func(*Tx) error) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if err := fn(tx); err != nil {
		return err
	}
	return ctx.Err()
}

// keep hands the changes over to the open group.
func (tx *Tx) keep() (*group, error) {
	if len(tx.undo) == 0 {
		return nil, nil
	}
	w := tx.writer
	if err := tx.stamp(); err != nil {
		return nil, err
	}
	tx.over = true
	w.size = tx.pages
	w.open.count++
	for pgno, before := range tx.undo {
		if before == nil || before.group != w.open {
			w.open.pgnos = append(w.open.pgnos, pgno)
		}
	}
	return w.open, nil
}

// stamp counts the transaction in the header, as SQLite does: always in rollback mode, and in WAL mode if page 1 changes.
func (tx *Tx) stamp() error {
	_, changed := tx.undo[1]
	if !changed && tx.wal != nil && tx.pages == tx.size {
		return nil
	}
	page1, err := tx.writable(1)
	if err == nil {
		bump(page1, tx.pages)
	}
	return err
}

// rollback puts every page back, unless the changes were kept.
func (tx *Tx) rollback() {
	if tx.over {
		return
	}
	tx.over = true
	for pgno, before := range tx.undo {
		if before == nil {
			delete(tx.writer.pages, pgno)
		} else {
			tx.writer.pages[pgno] = before
		}
	}
}

// writable returns page pgno for the transaction to change: the usable part of a private copy.
func (tx *Tx) writable(pgno uint32) ([]byte, error) {
	w := tx.writer
	p := w.pages[pgno]
	if p != nil && p.tx == tx.id {
		return p.data[:tx.usable:tx.usable], nil
	}
	old, err := tx.wholePage(pgno)
	if err != nil {
		return nil, err
	}
	data := make([]byte, tx.header.PageSize)
	copy(data, old)
	if _, ok := tx.undo[pgno]; !ok {
		tx.undo[pgno] = p
	}
	w.pages[pgno] = &dirtyPage{data: data, tx: tx.id, group: w.open}
	return data[:tx.usable:tx.usable], nil
}

// wholePage returns a page with its reserved bytes.
func (rx *Rx) wholePage(pgno uint32) ([]byte, error) {
	data, err := rx.page(pgno)
	if err != nil {
		return nil, err
	}
	return data[:rx.header.PageSize], nil
}
