package sqlitefile

import (
	"slices"

	"github.com/foliofs/folio/internal/format"
)

// The methods of a writer that make it the pageStore and the pageSource of its b-trees: the pages as the transaction that runs sees them.
// They serve one transaction after the other, so that a b-tree may remember where it was.

func (w *writer) page(pgno uint32) ([]byte, error) { return w.tx.page(pgno) }

func (w *writer) writable(pgno uint32) ([]byte, error) {
	tx := w.tx
	if p := w.pages.get(pgno); p != nil && p.tx == tx.level.id {
		return p.data[:tx.usable], nil
	}
	old, err := tx.wholePage(pgno)
	if err != nil {
		return nil, err
	}
	p := w.take(pgno)
	copy(p.data, old)
	return p.data[:tx.usable], nil
}

func (w *writer) fresh(pgno uint32) ([]byte, error) {
	tx := w.tx
	p := w.pages.get(pgno)
	if p == nil || p.tx != tx.level.id {
		p = w.take(pgno)
	}
	clear(p.data)
	return p.data[:tx.usable], nil
}

// take puts a page of the transaction's own in place of one that is not (G2, G3). Its content is undefined.
func (w *writer) take(pgno uint32) *dirtyPage {
	level := w.tx.level
	if pgno <= level.state.size {
		level.undo = append(level.undo, undoPage{pgno, w.before(pgno)})
	}
	w.held++
	p := w.shelf.page(w.tx.header.PageSize)
	p.tx, p.group = level.id, w.open
	w.pages.put(pgno, p)
	return p
}

// before returns what going back to the savepoint puts in place of a page. A page that was spilled to the file, where the next spill
// may overwrite it, is kept in memory.
func (w *writer) before(pgno uint32) *dirtyPage {
	p := w.pages.get(pgno)
	if p != nil || w.tx.level.outer == nil || !w.spilled.has(pgno) {
		return p
	}
	data, err := w.tx.wholePage(pgno)
	if err != nil {
		w.tx.level.outer.spoiled = err
		return nil
	}
	return &dirtyPage{data: slices.Clone(data), tx: nobody, group: w.open}
}

// discard has nothing to do: a free page is written as it is.
func (w *writer) discard(uint32) {}

func (w *writer) allocate(near uint32) (pgno uint32, page []byte, err error) {
	return w.freelist.allocate(near)
}

func (w *writer) release(pgno uint32) error { return w.freelist.release(pgno) }

func (w *writer) linked(child, parent uint32, kind format.PointerType) error {
	return w.freelist.linked(child, parent, kind)
}

func (w *writer) pageCount() uint32 { return w.tx.pages }

// resize forgets the pages that the database loses. They stay in undo.
func (w *writer) resize(pages uint32) error {
	for pgno := pages + 1; pgno <= w.tx.pages; pgno++ {
		p := w.pages.get(pgno)
		if p != nil && p.tx != w.tx.level.id {
			w.take(pgno)
		}
		w.pages.drop(pgno)
	}
	w.tx.pages = pages
	return nil
}

func (w *writer) moved() { w.epochs++ }

func (w *writer) epoch() uint64 { return w.epochs }

// Epoch returns a number that changes whenever anything has changed but by transactions of this DB that were kept, and now and then without need: what
// one of them knows at its end is still true as long as later ones return the same.
func (tx *Tx) Epoch() uint64 { return tx.writer.epochs }

func (w *writer) corrupt(pgno uint32, what string) error { return w.tx.corrupt(pgno, what) }
