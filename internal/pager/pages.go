package pager

import (
	"slices"

	"github.com/foliofs/folio/internal/format"
)

// The methods of a writer that make it the pageStore and the pageSource of its b-trees: the pages
// as the transaction that runs sees them. They serve one transaction after the other, so that a
// b-tree may remember where it was.

func (w *writer) Page(pgno uint32) ([]byte, error) { return w.tx.Page(pgno) }

func (w *writer) Writable(pgno uint32) ([]byte, error) {
	tx := w.tx
	if p := w.pages.Get(pgno); p != nil && p.tx == tx.level.id {
		return p.data[:tx.Usable], nil
	}
	old, err := tx.WholePage(pgno)
	if err != nil {
		return nil, err
	}
	p := w.take(pgno)
	copy(p.data, old)
	return p.data[:tx.Usable], nil
}

func (w *writer) Fresh(pgno uint32) ([]byte, error) {
	tx := w.tx
	p := w.pages.Get(pgno)
	if p == nil || p.tx != tx.level.id {
		p = w.take(pgno)
	}
	clear(p.data)
	return p.data[:tx.Usable], nil
}

// take puts a page of the transaction's own in place of another page (G2, G3). Its content is
// undefined.
func (w *writer) take(pgno uint32) *dirtyPage {
	level := w.tx.level
	if pgno <= level.state.size {
		level.undo = append(level.undo, undoPage{pgno, w.before(pgno)})
	}
	w.held++
	p := w.recent.page(w.tx.Header.PageSize)
	p.tx, p.group = level.id, w.open
	w.pages.Put(pgno, p)
	return p
}

// before returns the page that going back to the savepoint puts in place of a page. A page that was
// spilled to the file, where the next spill may overwrite it, is kept in memory.
func (w *writer) before(pgno uint32) *dirtyPage {
	p := w.pages.Get(pgno)
	if p != nil || w.tx.level.outer == nil || !w.spilled.Has(pgno) {
		return p
	}
	data, err := w.tx.WholePage(pgno)
	if err != nil {
		w.tx.level.outer.spoiled = err
		return nil
	}
	return &dirtyPage{data: slices.Clone(data), tx: noTransaction, group: w.open}
}

// Discard has nothing to do: a free page is written as it is.
func (w *writer) Discard(uint32) {}

func (w *writer) Allocate(near uint32) (pgno uint32, page []byte, err error) {
	return w.freelist.Allocate(near)
}

func (w *writer) Release(pgno uint32) error { return w.freelist.Release(pgno) }

func (w *writer) Linked(child, parent uint32, kind format.PointerType) error {
	return w.freelist.Linked(child, parent, kind)
}

func (w *writer) PageCount() uint32 { return w.tx.PageCount }

// Resize forgets the pages that the database loses. They stay in undo.
func (w *writer) Resize(pages uint32) error {
	for pgno := pages + 1; pgno <= w.tx.PageCount; pgno++ {
		p := w.pages.Get(pgno)
		if p != nil && p.tx != w.tx.level.id {
			w.take(pgno)
		}
		w.pages.Drop(pgno)
	}
	w.tx.PageCount = pages
	return nil
}

func (w *writer) Moved() {
	w.epochs++
	w.changedAll()
}

func (w *writer) Changed(root uint32) { w.changed(root) }

func (w *writer) Epoch() uint64 { return w.epochs }

// Epoch identifies the state that a write-side cache may rely on, as [Epoch] describes.
func (tx *Tx) Epoch() uint64 { return tx.writer.epochs }

func (w *writer) Corrupt(pgno uint32, what string) error { return w.tx.Corrupt(pgno, what) }
