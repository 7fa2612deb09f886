package pager

import (
	"github.com/foliofs/folio/internal/pageset"
)

// changes tell a reader within a write transaction whether something that it holds is still as it
// was: a place in a b-tree, or a slice of a page. A clock counts the changes to all b-trees, and
// each b-tree has the time of its last change. A reader remembers the time at which it looked.
//
//	K1  A b-tree whose time is not after the reader's has the same entries in the same pages as then.
//	K2  If pages have not moved since the reader's time either, these pages are in the same memory.
//	K3  A time passes before the pages change, so that a holder still finds them as they were.
//	K4  Going back to a savepoint changes the b-trees that have changed since it was set. The end of
//	    a transaction changes all of them.
type changes struct {
	clock uint64
	trees pageset.Table[uint64] // by the number of the root
	all   uint64                // when all b-trees changed last
	moved uint64                // when pages moved in memory last

	holders []Holder // of the content of pages until the next change
}

// A Holder needs something in pages, and would rather copy it only if it must.
type Holder interface {
	// Hold is called once, before the pages of the transaction change or move. It may read them.
	Hold()
}

// hold calls the holders that wait.
func (c *changes) hold() {
	for _, h := range c.holders {
		h.Hold()
	}
	c.release()
}

// release forgets the holders that wait.
func (c *changes) release() {
	clear(c.holders)
	c.holders = c.holders[:0]
}

// changed notes a change to a b-tree.
func (c *changes) changed(root uint32) {
	if len(c.holders) > 0 {
		c.hold()
	}
	c.clock++
	if at := c.trees.Get(root); at != nil {
		*at = c.clock
		return
	}
	at := c.clock
	c.trees.Put(root, &at)
}

// changedAll notes a change to any b-trees.
func (c *changes) changedAll() {
	c.hold()
	c.clock++
	c.all = c.clock
}

// movedAll notes that pages may be elsewhere in memory, with the same content.
func (c *changes) movedAll() {
	c.hold()
	c.clock++
	c.moved = c.clock
}

// takeBack notes that everything since a time is taken back.
func (c *changes) takeBack(since uint64) {
	c.clock++
	if c.all > since {
		c.all = c.clock
	}
	for _, at := range c.trees.All() {
		if *at > since {
			*at = c.clock
		}
	}
}
