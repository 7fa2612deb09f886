// Package btree changes the b-trees of a SQLite database, and hands out the pages that they are
// made of.
//
// A [Tree] is one b-tree as one write transaction sees it. It gets its pages from a [Store]: the
// transaction of a database, or pages in memory in the tests of this package. A [Freelist] is the
// pages of a database that no tree uses, with the pointer maps of auto-vacuum. A [Node] is a page
// in place; readers search it without a Tree.
//
// # One change, from top to bottom
//
//	Tree.InsertRow
//	    SeekRow           the path from the root to the leaf, or the one remembered
//	    edit              the private copy of the leaf; E1 to E5 hold in it
//	        fits:         put the cell into the gap or a freeblock
//	        does not fit: balance the leaf with up to two neighbors (redistribution.go)
//	                          which may add a cell to the parent, and so on up to the root
//	    chain             the part of a long record that the leaf cannot keep goes to overflow pages
//
// The invariants B1 to B4 (a tree), E1 to E5 (a page) and G1 to G3 (balancing) stand beside the
// code that keeps them. A page that breaks them is reported by Store.Corrupt; nothing panics.
package btree
