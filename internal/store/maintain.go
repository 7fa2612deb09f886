package store

import (
	"time"
)

// CompactOptions say how Maintainer.Compact works. The zero value, and nil, are good defaults.
type CompactOptions struct {
	Progress Progress // or nil
}

// BackupOptions say how Maintainer.BackupFile works. The zero value, and nil, are good defaults.
type BackupOptions struct {
	Replace  bool     // an existing file
	Progress Progress // or nil
}

// Stats describes the state of a volume, and the work that was done on it since it was opened here.
type Stats struct {
	PageSize  int   // bytes
	Pages     int64 // of the volume's file
	FreePages int64 // of these, for content to come

	LogBytes        int64  // of changes in the log, which a checkpoint will copy into the file
	Checkpoints     uint64 // that were made here
	CheckpointWaits uint64 // changes that waited for one, as the log was long

	Changes   uint64        // transactions that were committed
	Commits   uint64        // how often: those that come together are committed together
	BusyWaits uint64        // how often another process was in the way
	BusyTime  time.Duration // and for how long, in all

	Pinned  int // inodes that are kept because files are open
	Readers int // transactions at work
	// OldestReader is when the oldest of these readers may have begun; zero if there are none. A
	// reader that stays for long keeps the log from beginning again at its start.
	OldestReader time.Time
}

// GroupSize returns how many changes were committed at once on average; 0 before the first.
func (s *Stats) GroupSize() float64 {
	if s.Commits == 0 {
		return 0
	}
	return float64(s.Changes) / float64(s.Commits)
}

// A RepairReport says what Maintainer.Repair changed, and which problems it left.
type RepairReport struct {
	Repairs []Repair // at most MaxProblems
	More    int      // how many repairs there were besides
	Report           // the problems that remain: to correct them would take a guess
}

// A Repair is a problem that is one no more.
type Repair struct {
	Problem
	Done string // how it was put right
}
