package check

import (
	"math"

	"github.com/foliofs/folio/internal/store"
)

// A window is a range of inode numbers, as rows have them: any 64 bits.
type window struct{ first, last int64 }

var everything = window{math.MinInt64, math.MaxInt64}

func (w window) has(ino store.Ino) bool { return int64(ino) >= w.first && int64(ino) <= w.last }

// Windows of a volume. There are at most maxWindows, so that the time is in proportion to the
// volume, and none is smaller than minWindow, as each takes a look at all entries.
const (
	maxWindows = 32
	minWindow  = 1 << 17
)

// WindowSize returns how many inodes a window of a volume with so many inodes has.
func WindowSize(inodes int64) int { return int(max(minWindow, (inodes+maxWindows-1)/maxWindows)) }

// Open begins a window of up to size inodes behind the last one, for rows that come by number.
// After the rows of node, Close says where the window ends; then come the rows of the other tables
// that are about its inodes, and all entries. Finish follows the last window.
//
// The Checker compares the type of an entry with the type of its inode in the window of the inode.
// It counts the directories in a directory by the types in the entries if they lead to other
// windows.
func (c *Checker) Open(size int) {
	first := int64(math.MinInt64)
	if c.window != everything {
		c.finishWindow()
		first = c.window.last + 1
	}
	if cap(c.nodes) < size {
		c.nodes = make([]Node, 0, size)
	}
	c.nodes, c.window = c.nodes[:0], window{first, math.MaxInt64}
}

// Has reports whether the window has an inode of that number, if there is one.
func (c *Checker) Has(ino store.Ino) bool { return c.window.has(ino) }

// First returns where the window begins.
func (c *Checker) First() int64 { return c.window.first }

// Last returns where the window ends.
func (c *Checker) Last() int64 { return c.window.last }

// Close ends the window at the inode that came last, unless it was the last one of all.
func (c *Checker) Close(last int64) { c.window.last = last }
