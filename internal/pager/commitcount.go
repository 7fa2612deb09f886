package pager

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/format"
)

// CountCommit counts a commit in the header on page 1: the change counter, the size, and the
// version of the program that wrote last.
func CountCommit(page1 []byte, size uint32) { countCommit(page1, size, 1) }

// countCommit is CountCommit with a change counter that goes up by step.
func countCommit(page1 []byte, size, step uint32) {
	format.PutCounter(page1, format.ChangeOf(page1).Counter()+step)
	binary.BigEndian.PutUint32(page1[28:], size)
	binary.BigEndian.PutUint32(page1[96:], WriterVersion)
}

// WriterVersion is the number of the SQLite version whose way of writing files this is: 3.50.4.
const WriterVersion = 3_050_004
