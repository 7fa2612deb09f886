package folio

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native"
)

// maintainer returns the part of the store that the functions below need. A store of another
// package may lack it.
func (v *Volume) maintainer(ctx context.Context) (store.Maintainer, error) {
	if err := v.usable(ctx); err != nil {
		return nil, err
	}
	m := v.store.Features().Maintainer
	if m == nil {
		return nil, errors.ErrUnsupported
	}
	return m, nil
}

// CompactOptions say how Compact works. The zero value, and nil, are good defaults.
type CompactOptions struct {
	// Progress, if it is not nil, is called from time to time with the bytes that were copied, and
	// with about how many there are to copy.
	Progress func(done, total int64)
}

// Compact makes the volume's file as small as it can be: it replaces the file by a copy without
// free pages. Open files stay open. Writers wait until it ends, readers only for a moment at the
// end. Compact fails, and changes nothing, while another process holds the volume open.
func (v *Volume) Compact(ctx context.Context, o *CompactOptions) error {
	if o == nil {
		o = new(CompactOptions)
	}
	m, err := v.maintainer(ctx)
	if err == nil {
		err = v.updates.wait(ctx)
	}
	if err == nil {
		err = m.Compact(ctx, &store.CompactOptions{Progress: o.Progress})
	}
	return v.volumeError("compact", err)
}

// Backup writes a copy of the volume to w, as the volume is at one moment. Writers go on meanwhile.
func (v *Volume) Backup(ctx context.Context, w io.Writer) error {
	m, err := v.maintainer(ctx)
	if err == nil && w == nil {
		err = errNil
	}
	if err != nil {
		return v.volumeError("backup", err)
	}
	return m.Backup(ctx, w)
}

// BackupOptions say how BackupFile works. The zero value, and nil, are good defaults.
type BackupOptions struct {
	// Replace lets BackupFile replace an existing file, at once and as a whole, when the copy is
	// complete.
	Replace bool
	// Progress, if it is not nil, is called from time to time with the bytes that were copied, and
	// with those of all.
	Progress func(done, total int64)
}

// BackupFile writes a backup to the file path of the operating system. The file appears complete
// and synced, or not at all. If the file exists, BackupFile fails with fs.ErrExist unless o.Replace
// is set.
func (v *Volume) BackupFile(ctx context.Context, path string, o *BackupOptions) error {
	m, err := v.maintainer(ctx)
	if err != nil {
		return v.volumeError("backup", err)
	}
	if o == nil {
		o = new(BackupOptions)
	}
	return m.BackupFile(ctx, path, &store.BackupOptions{Replace: o.Replace, Progress: o.Progress})
}

// Stats tells how the volume is doing. It reads nothing from the file, and can be called at any
// time.
func (v *Volume) Stats() Stats {
	if m, err := v.maintainer(context.Background()); err == nil {
		return Stats(m.Stats())
	}
	return Stats{}
}

// Repair solves the problems that Check finds, if that needs no guess and loses no content: wrong
// counts of links, names that lead nowhere or are impossible, and files and directories without a
// name, which it moves to the directory lost+found. All repairs happen in one transaction, or none
// does. The report names the problems that are left, for example missing content. Repair does not
// change a volume whose database is damaged.
func (v *Volume) Repair(ctx context.Context) (*RepairReport, error) {
	m, err := v.maintainer(ctx)
	if err == nil {
		err = v.updates.wait(ctx)
	}
	if err != nil {
		return nil, v.volumeError("repair", err)
	}
	r, err := m.Repair(ctx)
	if err != nil {
		return nil, v.volumeError("repair", err)
	}
	return &RepairReport{Repairs: repairs(r.Repairs), More: r.More, CheckReport: *checkReport(&r.Report)}, nil
}

// RepairSchema repairs the schema of the volume at path if Open fails because of it, and returns
// the repairs. It sets PRAGMA application_id and PRAGMA user_version if they are missing and the
// tables are those of a volume: the .dump of sqlite3 loses both numbers. If rows of sqlite_schema
// are damaged, it writes the tables and the view as the format defines them; SQLite does not open
// such a volume, and Open refuses it if the row of a table is damaged. A database that is not a
// volume, or whose b-trees are damaged, is refused and left as it is. Errors are *fs.PathError.
//
// Call [Volume.Repair] for problems that Check finds in a volume that can be opened.
func RepairSchema(ctx context.Context, path string) ([]Repair, error) {
	if ctx == nil {
		return nil, pathError("repair", path, errNil)
	}
	made, err := native.RepairSchema(ctx, path)
	return repairs(made), err
}

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

// A CheckReport holds the problems that [Volume.Check] found.
type CheckReport struct {
	Problems []Problem // at most 100
	Omitted  int       // how many more problems there are

	Nodes, Entries, Chunks, Xattrs int64 // how many rows of each table were checked
	Bytes                          int64 // of stored contents
}

// OK reports whether Check found no problem.
func (r *CheckReport) OK() bool { return len(r.Problems) == 0 }

// A Problem is one contradiction in a volume.
type Problem struct {
	Ino  uint64 // the inode that it concerns; 0 for the volume as a whole
	Path string // one of its paths, "." for the root; "" if it has none
	What string
}

// A RepairReport holds the changes of [Volume.Repair]. The embedded CheckReport has the problems
// that are left.
type RepairReport struct {
	Repairs []Repair // at most 100
	More    int      // how many more repairs there were
	CheckReport
}

// A Repair is a problem that [Volume.Repair] or [RepairSchema] has solved.
type Repair struct {
	Problem
	Done string // how it was repaired
}

func checkReport(r *store.Report) *CheckReport {
	c := &CheckReport{
		Omitted: r.Omitted, Nodes: r.Nodes, Entries: r.Entries, Chunks: r.Chunks, Xattrs: r.Xattrs, Bytes: r.Bytes,
	}
	for _, p := range r.Problems {
		c.Problems = append(c.Problems, problem(p))
	}
	return c
}

func problem(p store.Problem) Problem { return Problem{Ino: uint64(p.Ino), Path: p.Path, What: p.What} }

func repairs(list []store.Repair) (made []Repair) {
	for _, r := range list {
		made = append(made, Repair{Problem: problem(r.Problem), Done: r.Done})
	}
	return made
}

// CheckOptions say how Check works. The zero value, and nil, are good defaults.
type CheckOptions struct {
	// Progress, if it is not nil, is called from time to time with how far Check is through the
	// bytes of the volume.
	Progress func(done, total int64)
}

// Check looks for contradictions in the whole volume: in the b-trees of its database, and among
// names, inodes and contents. An error means that it could not look; the report has the problems
// that it found.
func (v *Volume) Check(ctx context.Context, o *CheckOptions) (*CheckReport, error) {
	if o == nil {
		o = new(CheckOptions)
	}
	err := v.usable(ctx)
	var report *store.Report
	if err == nil {
		report, err = v.store.Check(ctx, &store.CheckOptions{Progress: o.Progress})
	}
	if err != nil {
		return nil, v.volumeError("check", err)
	}
	return checkReport(report), nil
}
