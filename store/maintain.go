package store

import (
	"context"
	"io"
	"time"
)

// A Maintainer is a Store that lets the volume be kept in shape as a whole. Not every Store is one.
//
// A progress function, where it is not nil, is called now and then with how much is done of how much, in bytes.
type Maintainer interface {
	// Compact makes the volume as small as it can be. Inodes keep their numbers, and holds stay. It needs the volume for itself:
	// while another process has it open it fails, and nothing has changed.
	Compact(ctx context.Context, progress func(done, all int64)) error
	// Backup writes to w a volume like this one, as it is at one moment, while others write on.
	Backup(ctx context.Context, w io.Writer) error
	// BackupFile makes that a file at path, complete and durable, or none. An existing one is fs.ErrExist, or is replaced.
	BackupFile(ctx context.Context, path string, replace bool, progress func(done, all int64)) error
	// CheckProgress is Store.Check. Its progress is that of its first and longest part, which looks at the database below the volume.
	CheckProgress(ctx context.Context, progress func(done, all int64)) (*Report, error)
	// Repair puts right what Check finds, as far as no content is lost by it, all in one transaction.
	Repair(ctx context.Context) (*RepairReport, error)
	// Stats tells how the volume stands, without reading any of it.
	Stats() Stats
}

// Stats tells how a volume stands, and what was done with it since it was opened here.
type Stats struct {
	PageSize  int   // bytes
	Pages     int64 // of the volume's file
	FreePages int64 // of these, for content to come

	LogBytes        int64  // of changes that lie beside the file until a checkpoint puts them into it
	Checkpoints     uint64 // that were made here
	CheckpointWaits uint64 // changes that waited for one, as the log was long

	Changes   uint64        // transactions that were committed
	Commits   uint64        // how often: those that come together are committed together
	BusyWaits uint64        // how often another process was in the way
	BusyTime  time.Duration // and for how long, in all

	Held    int // inodes that are kept because files are open
	Readers int // transactions at work
	// OldestReader is since when the oldest of these may have been at work; zero if there are none. One that stays for long keeps the log
	// from beginning anew.
	OldestReader time.Time
}

// GroupSize returns how many changes were committed at once on average; 0 before the first.
func (s *Stats) GroupSize() float64 {
	if s.Commits == 0 {
		return 0
	}
	return float64(s.Changes) / float64(s.Commits)
}

// A RepairReport is what Store.Repair did, and what it left.
type RepairReport struct {
	Repairs []Repair // at most MaxProblems
	More    int      // how many repairs there were besides
	Report           // what is still wrong: what cannot be put right without a guess
}

// A Repair is a problem that is one no more.
type Repair struct {
	Problem
	Done string // how it was put right
}
