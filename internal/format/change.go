package format

import "encoding/binary"

// A Change is bytes 24 to 39 of page 1: the change counter, the size of the database, and where and
// how long the freelist is. Every commit in rollback mode changes it, and every one in WAL mode
// that writes page 1.
type Change [16]byte

// ChangeOffset is where the change lies in a database file.
const ChangeOffset = 24

// ChangeOf returns the change of a page 1, of which b has the first 40 bytes at least.
func ChangeOf(b []byte) Change { return Change(b[ChangeOffset : ChangeOffset+len(Change{})]) }

// Counter returns the change counter.
func (c Change) Counter() uint32 { return binary.BigEndian.Uint32(c[:]) }

// PutCounter sets the change counter of a page 1, and says that the size and the version in its
// header belong to that change.
func PutCounter(page1 []byte, counter uint32) {
	binary.BigEndian.PutUint32(page1[ChangeOffset:], counter)
	binary.BigEndian.PutUint32(page1[validForOffset:], counter)
}

const validForOffset = 92
