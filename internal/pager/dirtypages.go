package pager

import (
	"github.com/foliofs/folio/internal/pageset"
)

// dirtyPages are the pages in memory that readers of the database do not see: changed and not yet
// committed, or committed by this pager last.
type dirtyPages struct {
	pages  pageset.Table[dirtyPage] // changed
	recent recentPages              // committed
	changes
}

// A dirtyPage is a page as a transaction left it.
type dirtyPage struct {
	data  []byte
	tx    uint64 // the transaction that may change it, or noTransaction
	group *group
	next  *dirtyPage // of recentPages.spare
}

// find returns the page as the transactions so far left it, or nil if they did not touch it lately.
func (d *dirtyPages) find(pgno uint32) []byte {
	p := d.pages.Get(pgno)
	if p == nil {
		p = d.recent.pages.Get(pgno)
	}
	if p == nil {
		return nil
	}
	return p.data
}

// put lets p be the page in memory; nil if there is none.
func (d *dirtyPages) put(pgno uint32, p *dirtyPage) {
	if p == nil {
		d.pages.Drop(pgno)
	} else {
		d.pages.Put(pgno, p)
	}
}
