package folio

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/store"
	"github.com/foliofs/folio/store/native"
)

// Options say how a volume is opened. The zero value, and nil, are good defaults.
type Options struct {
	// ReadOnly opens the volume for reading. Nothing of it is ever changed, not even to recover it or to remove what nobody uses.
	ReadOnly bool
	// Immutable is for a volume that nothing changes while it is open, such as one on a CD or in an
	// image of a container. It is opened for reading, and no lock is taken, which also works on
	// file systems without locks. A volume that merely cannot be written needs no option. If
	// something changes the file all the same, what is read may be wrong.
	Immutable bool
	// Create makes an empty volume if there is none.
	Create bool
	// Plain reads the volume without mapping it into memory: slower, for files that are not trusted to stay as they are.
	Plain bool
	// BusyTimeout is how long to wait for another process that writes; 0 means 5 seconds, and less than 0 not to wait.
	BusyTimeout time.Duration
	// CacheSize is how many bytes of memory may be taken by what is known of files and directories that are used
	// again and again; 0 means 64 MiB, and less than 0 none but for where directories are. Contents are not in it: the
	// system caches those.
	CacheSize int64
	// MaxSize is how many bytes the volume's file may have; 0 means any number. A call that needs more fails with ErrFull, which matches ENOSPC, and
	// nothing has changed. Removing always works, and what was removed makes room at once, unless it is open. A file that is larger already
	// does not grow. The log beside it does not count.
	MaxSize int64
}

const defaultCacheSize = 64 << 20

// An FS is an open volume. It is safe for concurrent use by any number of goroutines.
//
// It has the methods of os.Root, with the same errors. Each call reads what the volume holds at that moment, and changes it as a whole or not at
// all; View reads many things at one moment, Update changes many at one. What was changed survives the death of the process at once, and the loss of
// power after Sync.
type FS struct {
	reader
	writer
	path  string // of the volume
	store store.Store
	dirs  dirCache  // directories that were on the way to something, or read
	files fileCache // what was asked for again

	running change  // the one in the write transaction that runs
	updater updater // of the Update or Merge that runs

	uid, gid uint32 // of new files
}

// Open opens the volume at path, for writing too if its file and its directory allow that. Where
// they do not, it opens the volume for reading, and makes no file; a call that is in progress when
// another process begins to write may fail with ErrBusy then.
//
// Errors are *fs.PathError with that path: ErrNotVolume for a database that is something else, ErrNewerVersion,
// fs.ErrNotExist, or what package sqlitefile found wrong with it.
func Open(path string, o *Options) (*FS, error) {
	if o == nil {
		o = new(Options)
	}
	s, err := openStore(path, o)
	if err != nil {
		return nil, err
	}
	v, err := OpenStore(s, o)
	if err != nil {
		_ = s.Close()
		return nil, pathError("open", path, err)
	}
	return v, nil
}

// OpenStore returns the volume that a store keeps, such as one of package store/sqlstore: whatever keeps the promises of package store can have
// a file system on it. Of the options only CacheSize counts, as the store is open already. Close closes it.
func OpenStore(s store.Store, o *Options) (*FS, error) {
	if o == nil {
		o = new(Options)
	}
	return newFS(s, cmp.Or(o.CacheSize, defaultCacheSize))
}

// openStore opens the volume, and makes it if that is wanted.
func openStore(path string, o *Options) (store.Store, error) {
	options := &native.Options{ReadOnly: o.ReadOnly, Immutable: o.Immutable, Plain: o.Plain, BusyTimeout: o.BusyTimeout}
	s, err := native.Open(path, options)
	if o.Create && !o.ReadOnly && !o.Immutable && isMissing(err) {
		err = Create(context.Background(), path, nil, func(*Builder) error { return nil })
		if err != nil && !errors.Is(err, fs.ErrExist) { // somebody else may have been faster
			return nil, err
		}
		s, err = native.Open(path, options)
	}
	if err != nil {
		return nil, err
	}
	s.Limit(o.MaxSize)
	return s, nil
}

// Open opens a file for reading, or a directory.
func (v *FS) Open(name string) (*File, error) { return v.OpenFile(name, 0, 0) }

func newFS(s store.Store, cacheSize int64) (*FS, error) {
	info, err := s.Info(context.Background())
	if err != nil {
		return nil, err
	}
	v := &FS{store: s, path: info.Path}
	v.reader = reader{fs: v, top: store.Root}
	v.writer = writer{from: &v.reader}
	v.uid, v.gid = posix.Owner()
	files := max(minFiles, int64(info.LastIno))
	v.dirs.init(2*files, cacheSize-cacheSize/4)
	v.files.init(files, cacheSize/4)
	return v, nil
}

// minFiles is how many files there is room for in the caches at least: a volume may grow.
const minFiles = 1 << 10

// Close waits for the views in progress and closes the volume. Files that are open fail from then
// on. Within Update it fails with ErrInUpdate.
func (v *FS) Close() error {
	if err := v.updater.mayWait(); err != nil {
		return v.volumeError("close", err)
	}
	return v.volumeError("close", v.store.Close())
}

// Info describes a volume as a whole.
type Info = store.Info

// Info describes the volume without looking at its files.
func (v *FS) Info(ctx context.Context) (Info, error) {
	info, err := v.store.Info(ctx)
	return info, v.volumeError("info", err)
}

// A CheckReport is what Check found; a Problem is one contradiction.
type (
	CheckReport = store.Report
	Problem     = store.Problem
)

// Check looks for contradictions in the whole volume: in the b-trees of its database, and among names, inodes and
// contents. An error means that it could not look; what it found is in the report.
func (v *FS) Check(ctx context.Context) (*CheckReport, error) {
	report, err := v.store.Check(ctx)
	return report, v.volumeError("check", err)
}

// An Rx reads a volume as it was at one moment. It belongs to one goroutine at a time, with the files that it opens, and
// ends with the View that it comes from: from then on everything fails with fs.ErrClosed.
type Rx struct {
	reader
	rx store.Rx // nil from the end on
}

// View calls fn with a snapshot of the volume and returns its error. What fn reads through rx belongs together, whatever others
// write meanwhile. Do not keep a view for long: it holds up what a volume must do to give space back.
func (v *FS) View(ctx context.Context, fn func(rx *Rx) error) error {
	s, err := v.store.Begin(ctx)
	if err != nil {
		return v.volumeError("view", err)
	}
	rx := &Rx{rx: s}
	rx.reader = reader{fs: v, pin: rx, top: store.Root}
	defer rx.close()
	return fn(rx)
}

func (rx *Rx) close() {
	s := rx.rx
	rx.rx = nil
	s.End()
}
