// Package search finds rows and index entries in the b-trees of a snapshot, and the bytes of their
// records where they lie:
//
//	Find, Search   a key in the b-tree of an index, or of a table WITHOUT ROWID
//	Payload        the record of a cell, with the overflow pages that it goes on in
//	Field          a value of a record
//
// A search passes the interior pages of a b-tree again and again. The interior cache of a b-tree
// keeps the parts that a search needs: the first bytes of each key, side by side, and the child to
// go on in.
//
// Nothing is copied where a record lies in one page: a value is a slice of the page, valid until
// the transaction ends. Package pager gives the pages.
package search
