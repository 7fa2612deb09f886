// Package rowstore reads and writes the rows of a volume: inodes, entries, contents and extended
// attributes. A Tx calls a CopyOnWrite before it changes a row, if the volume has snapshots or
// clones. In a plain volume there is none.
package rowstore
