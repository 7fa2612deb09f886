//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"sync"
	"time"

	"github.com/foliofs/folio/internal/store"
)

// invalidationRace remembers which contents the kernel was made to drop a moment ago, and what it
// has read since. It finds the writes that such a read may have overtaken.
//
// The kernel copies the data of a write(2) into the pages of its cache, unlocks those that were
// there, and sends the request then. If it is made to forget these pages meanwhile, for example
// because another process has written a row of the same leaf, the next reader asks for them again.
// It may be answered with what was there before the write, and the kernel would keep that. So a
// write that a read may have overtaken in this way makes the kernel forget that part once more.
//
// The program may be kept from running between the copy and the request, for as long as the system
// is busy. But the kernel makes one write(2) of a file at a time, so it has copied the data after
// the answer to the one before, and no read before that answer counts.
//
// Inodes of one slot are taken for each other, except in reads.
type invalidationRace struct {
	slots [raceSlots]raceSlot
}

const (
	raceSlots   = 64
	racingReads = 16 // reads that a slot remembers
)

type raceSlot struct {
	mu     sync.Mutex // guards the fields below
	active int        // notices on their way to the kernel
	last   time.Time  // when the last one arrived
	reads  [racingReads]racingRead
	next   int // of reads, which is a ring
}

// A dropRead is a request to read a part of a content.
type racingRead struct {
	ino        store.Ino
	start, end int64
	at         time.Time
}

// sendingTakes is how long the kernel takes at most from copying the data of a write to the arrival
// of the request, where the answer to the write before it is not known or older.
const sendingTakes = time.Minute

func (d *invalidationRace) slot(ino store.Ino) *raceSlot { return &d.slots[ino%raceSlots] }

// begin notes that the kernel is about to be made to forget the content of an inode.
func (d *invalidationRace) begin(ino store.Ino) {
	s := d.slot(ino)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active++
}

// end notes that the kernel has forgotten it.
func (d *invalidationRace) end(ino store.Ino) {
	s := d.slot(ino)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
	s.last = time.Now()
}

// read notes a read before it begins.
func (d *invalidationRace) read(ino store.Ino, start, end int64) {
	s := d.slot(ino)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads[s.next%racingReads] = racingRead{ino, start, end, time.Now()}
	s.next++
}

// overtaken returns the part of a write that reads may have overtaken, which is empty as a rule.
// The write was copied after the time since, arrived at the other time and is committed. sure
// reports that each of these reads has come after the write, so that the write holds no lock on
// their pages.
func (d *invalidationRace) overtaken(ino store.Ino, start, end int64, since, arrived time.Time) (from, to int64, sure bool) {
	s := d.slot(ino)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active == 0 && s.last.Before(since) {
		return 0, 0, true
	}
	from, to, sure = end, start, true
	for _, r := range s.reads {
		if r.ino == ino && r.start < end && start < r.end && !r.at.Before(since) {
			from, to = min(from, max(r.start, start)), max(to, min(r.end, end))
			sure = sure && !r.at.Before(arrived)
		}
	}
	if oldest := s.reads[s.next%racingReads].at; !oldest.Before(since) { // earlier ones are not known any more
		from, to, sure = start, end, false
	}
	return from, to, sure
}
