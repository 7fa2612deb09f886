package pager

import (
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/wal"
)

// A savepoint keeps everything that is needed to go back: the pages as they were when the
// transaction, or the part of it that Nested began, took them. A page that it took again, after a
// spill, is in undo again: the first time counts, so that going back begins with the last. Pages
// that the database did not have are not in it.
type savepoint struct {
	id    uint64
	undo  []undoPage
	state state    // as it was at its start
	tail  wal.Tail // where the log ended
	clock uint64   // when it was set
	outer *savepoint

	spoiled error // a tree may be half changed: there is only the way back
	scoped  bool  // it belongs to Nested, and ends when a function returns
}

// An undoPage is a page as it was.
type undoPage struct {
	pgno   uint32
	before *dirtyPage // nil if it was not in writer.pages
}

// noTransaction is the owner of a page that was read from the file before spilled pages were
// written over it: it is in memory to be put back.
const noTransaction = 0

// A state is where a transaction begins, besides the pages.
type state struct {
	size   uint32 // pages of the database
	header format.Header
	schema *Schema
}

// keptPages is how many pages a transaction may have changed for the memory of its undo list
// to serve the next one.
const keptPages = 256
