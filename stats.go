package folio

import "time"

// Stats describes the state of a volume, and the work of this [Volume] on it since Open.
type Stats struct {
	PageSize  int   // bytes
	Pages     int64 // of the volume's file
	FreePages int64 // of these, how many are free for new content

	LogBytes        int64  // of changes in the log, which a checkpoint copies to the file
	Checkpoints     uint64 // that this Volume has made
	CheckpointWaits uint64 // changes that waited for a checkpoint because the log was long

	Changes   uint64        // transactions that were committed
	Commits   uint64        // how often: several changes may share one commit
	BusyWaits uint64        // how often another process held a lock
	BusyTime  time.Duration // how long this Volume waited for such locks in all

	Pinned  int // inodes that are kept because files are open
	Readers int // read transactions at work
	// OldestReader is the time since which the oldest of these may have been at work; zero if there
	// are none. A reader that stays for long keeps the log from starting over.
	OldestReader time.Time
}

// GroupSize returns how many changes shared a commit on average, 0 before the first commit.
func (s *Stats) GroupSize() float64 {
	if s.Commits == 0 {
		return 0
	}
	return float64(s.Changes) / float64(s.Commits)
}
