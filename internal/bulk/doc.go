// Package bulk writes the pages of a SQLite database from front to back, each of them once.
//
// A [File] hands out pages in the order of their numbers, and writes them in the background. A
// [Tree] makes a b-tree of cells that come in the order of their keys: its leaves are filled one
// after the other, and its interior pages grow above them. A [Payload] writes one record, in its
// cell and in the overflow pages behind it. So a bulk load and a compact copy need one pass, and
// about one page of memory for each level of a tree.
package bulk
