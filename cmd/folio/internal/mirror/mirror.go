// Package mirror makes a directory of a volume like a directory on disk, by changing what differs.
//
// # Terms
//
// scan.go compares a directory on disk with the volume, plan.go decides on changes, and apply.go
// makes them. Package disk runs the three concurrently. It lists the disk ahead, and reads the
// contents that are needed.
//
// # Promises
//
//	M1  A file that differs is replaced by a new inode, in the transaction that removes the old
//	    one. No reader sees a part of a file, and a reader that holds the old one open goes on
//	    reading it. Only attributes are changed in place, and only of inodes with one name.
//	M2  Transactions are bounded: about a MiB of contents and a few hundred files, or one larger
//	    file. After a crash or an error, each file in the volume is as it was or as on disk.
//	M3  A file that is the same takes no transaction. Comparing needs no content, unless
//	    Options.Checksum asks for it.
//	M4  Names of one file on disk are names of one file in the volume. Any other names are not.
//	M5  A file on disk that cannot be read stays as it was, even with Options.Delete.
package mirror

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
)

// Options say how to mirror.
type Options struct {
	Checksum bool // compare contents, in place of sizes and times
	Delete   bool // remove files that are not on disk
	DryRun   bool // change nothing

	// Warn is called for each file that is left as it was. path is its name on disk. Several
	// goroutines may call it. Skipped in Stats counts the files that should not have been left out.
	Warn func(path string, why error)
	// Changed is called for each change after it was committed, in order.
	Changed func(Change)
	// Seen is called from time to time with how many files were compared, and how many bytes
	// written, since the last call. Several goroutines may call it.
	Seen func(files int, bytes int64)
}

// A Change is something that was done to a file.
type Change struct {
	Kind  Kind
	Path  string // below the directory
	IsDir bool
}

// A Kind says how a file was changed.
type Kind uint8

const (
	New        Kind = 1 + iota // it was not there
	Changed                    // it has a new content, or is a file of another type
	Attributes                 // only its permissions, owner, time or extended attributes are new
	Linked                     // it is a name of another file now
	Removed                    // with all that was in it
)

// Stats count changes, and files that were not changed.
type Stats struct {
	Done    [Removed + 1]int64 // by Kind; something that is removed with all that is in it counts once
	Same    int64              // files that were equal
	Skipped int64              // files that were left as they were because of an error
	Bytes   int64              // of contents written
}

// A mirror is one run. Its methods that disk.Diff calls say on which goroutine they are.
type mirror struct {
	Options
	ctx   context.Context
	v     *folio.Volume // nil for a volume that is not there yet
	dir   string        // in the volume
	there bool          // dir is
	start time.Time

	links   links           // Compare's
	same    int64           // Compare's
	left    int64           // Compare's: skipped
	stats   Stats           // Apply's
	skipped map[string]bool // Apply's: paths of files that should have been copied
}

// Run makes the directory dir of v like t. A v that is nil stands for an empty volume, for a dry
// run. Changes before an error stay. Errors name the path in the volume, as *fs.PathError, or the
// one on disk, as *tree.EntryError.
func Run(ctx context.Context, t *disk.Tree, v *folio.Volume, dir string, o *Options) (Stats, error) {
	m := newMirror(ctx, v, dir, o)
	return m.run(t, m)
}

func newMirror(ctx context.Context, v *folio.Volume, dir string, o *Options) *mirror {
	return &mirror{Options: *o, ctx: ctx, v: v, dir: dir, start: time.Now(), links: newLinks(), skipped: make(map[string]bool)}
}

// run does it all. differ is m, or the wrapper of a test around m.
func (m *mirror) run(t *disk.Tree, differ disk.Differ) (Stats, error) {
	if err := m.prepare(); err != nil {
		return Stats{}, err
	}
	err := disk.Diff(m.ctx, t, differ)
	m.stats.Same, m.stats.Skipped = m.same, m.stats.Skipped+m.left
	if err == nil && m.changed() && !m.DryRun {
		err = m.v.Sync(m.ctx)
	}
	return m.stats, err
}

// prepare makes the directory in the volume, unless this is a dry run.
func (m *mirror) prepare() error {
	if m.v == nil {
		return nil
	}
	info, err := m.v.Stat(m.dir)
	if errors.Is(err, fs.ErrNotExist) {
		if m.DryRun {
			return nil
		}
		if err = m.v.MkdirAll(m.dir, 0o755); err == nil {
			info, err = m.v.Stat(m.dir)
		}
	}
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "sync", Path: m.dir, Err: folio.ErrNotDirectory}
	}
	m.there = err == nil
	return err
}

func (m *mirror) changed() bool {
	for _, n := range m.stats.Done {
		if n > 0 {
			return true
		}
	}
	return false
}

// place is where a path of the tree is in the volume. That of the whole ends in "/.", as dir may be
// a symbolic link to it.
func (m *mirror) place(path string) string { return tree.Join(m.dir, path) }

// path is the path in the tree of an entry, which place has named.
func (m *mirror) path(e *tree.Entry) string {
	if m.dir == "." {
		return e.Name
	}
	return e.Name[len(m.dir)+1:]
}

// harmless reports whether a file that is left out for that reason is nothing to worry about.
func harmless(err error) bool {
	return errors.Is(err, tree.ErrVanished) || errors.Is(err, tree.ErrSocket)
}

// Why a file was left as it was, besides the errors of package disk.
var (
	ErrInTheWay = errors.New("is a directory in the volume, which is not empty")
	ErrFirst    = errors.New("is another name of a file that could not be copied")
)
