// Package chain remembers where the long values of a snapshot lie. A value that is too long for its
// b-tree page goes on in a chain of overflow pages, each of which names the next one. Writers put
// them next to each other if they can, so that a reader can go to the middle of a value without
// passing the pages before, once some reader has passed them:
//
//	Runs     by the first page of a chain: how many pages follow it one by one
//	Extents  by table, rowid and column: the first page of the chain, and the bytes of the value in it
//
// Both are safe for concurrent use, without locks, and may forget at any time.
package chain
