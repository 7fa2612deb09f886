package folio

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
)

// Options say how a volume is opened. The zero value, and nil, are good defaults.
type Options struct {
	// ReadOnly opens the volume for reading. Folio never changes it then, not even to recover it or
	// to remove files that are no longer used.
	ReadOnly bool
	// Immutable is for a volume that nothing changes while it is open. For example, it is on a CD
	// or in an image of a container. It is opened for reading, and no lock is taken, which also
	// works on file systems without locks. A volume that merely cannot be written needs no option.
	// If something changes the file all the same, the results may be wrong.
	Immutable bool
	// Create makes an empty volume if there is none, or if there is a file of no bytes, such as one
	// of os.CreateTemp.
	Create bool
	// NoMmap reads the volume without mapping it into memory. That is slower, and right for a file
	// that something else may cut off.
	NoMmap bool
	// BusyTimeout is how long a call waits for another process that writes, or for the function of
	// an Update. 0 means 5 seconds; with less than 0, no call waits.
	BusyTimeout time.Duration
	// CacheSize is the size in bytes of the caches for directories and inodes. 0 means 64 MiB; with
	// less than 0, only the places of directories are cached. Contents are not: the system caches
	// them.
	CacheSize int64
	// MaxSize limits the size in bytes of the volume's file; 0 means no limit. A call that needs
	// more fails with ErrFull, which matches ENOSPC, and changes nothing. Removing always works and
	// makes room at once, unless the file is open, or a snapshot keeps it. What snapshots keep
	// counts, too. A volume that is larger already does not grow. The log does not count.
	MaxSize int64
}

const defaultCacheSize = 64 << 20

// A Volume is an open volume. It is safe for concurrent use by any number of goroutines.
//
// It offers the methods of os.Root, with the same errors. Each call reads the volume as it is at
// that moment, and changes it as a whole or not at all. [Volume.View] reads many files at one
// moment, [Volume.Update] changes many in one transaction. A change survives the death of the
// process when the call returns, and the loss of power after [Volume.Sync].
type Volume struct {
	reader
	writer
	path   string // of the volume
	store  store.Store
	ahead  store.Walker   // the store, if it is one; else nil
	recent store.Recaller // likewise
	dirs   dirCache       // directories that were on the way to something, or read
	files  fileCache      // inodes of files by path

	running change // the one in the write transaction that runs
	updates *updates
	views   atomic.Int64 // functions of View that run
}

// Store returns the store of the volume, for packages of this module alone.
func (v *Volume) Store(private.Key) store.Store { return v.store }

// Open opens a file for reading, or a directory.
func (v *Volume) Open(name string) (*File, error) { return v.OpenFile(name, 0, 0) }

func newVolume(s store.Store, cacheSize int64, u *updates) (*Volume, error) {
	info := s.Features().Opened
	if info == nil {
		asked, err := s.Info(context.Background())
		if err != nil {
			return nil, err
		}
		info = &asked
	}
	v := &Volume{store: s, path: info.Path, updates: u}
	v.ahead, v.recent = s.Features().Walker, s.Features().Recaller
	v.reader = reader{fs: v, top: store.Root}
	v.writer = writer{from: &v.reader}
	v.running.uid, v.running.gid = posix.Owner()
	v.running.isAhead = v.ahead != nil
	files := max(minFiles, int64(info.LastIno))
	v.dirs.init(2*files, cacheSize-cacheSize/4)
	v.files.init(files, cacheSize/4)
	return v, nil
}

// minFiles is how many files there is room for in the caches at least: a volume may grow.
const minFiles = 1 << 10

// usable reports why a call cannot use the volume: nobody has opened it, or the context is nil.
func (v *Volume) usable(ctx context.Context) error {
	switch {
	case v.store == nil:
		return fs.ErrClosed
	case ctx == nil:
		return errNil
	}
	return nil
}

// Close waits for the views in progress and closes the volume. Files that are open fail from then
// on. While the function of an Update runs, Close waits as Update says, and may fail with ErrBusy.
// If the function of a View runs for longer than Options.BusyTimeout, for example because it calls
// Close, Close fails with ErrBusy, and the volume is closed when that function returns. As with
// os.Root, closing again is no error.
func (v *Volume) Close() error {
	if v.store == nil {
		return nil
	}
	err := v.updates.waitOwn(context.Background())
	if err == nil {
		err = v.closeStore()
	}
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return v.volumeError("close", err)
}

// closeStore closes the store. That waits for views, and would wait for ever for a view that waits
// for Close.
func (v *Volume) closeStore() error {
	if v.views.Load() == 0 {
		return v.store.Close()
	}
	closed := make(chan error, 1)
	go func() { closed <- v.store.Close() }()
	limit := time.NewTimer(v.updates.timeout)
	defer limit.Stop()
	select {
	case err := <-closed:
		return err
	case <-limit.C:
	}
	if v.views.Load() > 0 {
		return errViewRuns
	}
	return <-closed
}

// Info describes a volume as a whole.
type Info struct {
	Path      string
	Version   int   // of the volume's schema, on a server of its tables
	Size      int64 // of the volume's file, in bytes
	PageSize  int
	FreeBytes int64  // in the file, for new content
	ChunkSize int    // bytes of content in a row
	LastIno   uint64 // the highest number of an inode: about how many inodes there are

	// SQLite is the version of SQLite that was the last to write the first page of the volume, for
	// example 3.51.3; "" if Folio was, or if that is not known.
	SQLite string
}

// Info describes the volume without looking at its files.
func (v *Volume) Info(ctx context.Context) (Info, error) {
	err := v.usable(ctx)
	var i store.Info
	if err == nil {
		i, err = v.store.Info(ctx)
	}
	if err != nil {
		return Info{}, v.volumeError("info", err)
	}
	return Info{
		Path: i.Path, Version: i.Version, Size: i.Size, PageSize: i.PageSize, FreeBytes: i.FreeBytes, ChunkSize: i.ChunkSize,
		LastIno: uint64(i.LastIno), SQLite: i.SQLite,
	}, nil
}

// An Rx is a read transaction: it reads a volume as it was at one moment. Goroutines must use
// it, and the files that it opens, one at a time. It ends with the [Volume.View] that it comes
// from: from then on all its methods fail with fs.ErrClosed.
type Rx struct {
	reader
	rx    store.Rx // nil from the end on
	pasts []*Rx    // that At has returned
}

// View calls fn with a snapshot of the volume and returns its error. All that fn reads through rx
// is of one moment, whatever is written meanwhile. fn should not take long: while a view is open,
// the log of the volume cannot start over.
func (v *Volume) View(ctx context.Context, fn func(rx *Rx) error) error {
	err := v.usable(ctx)
	if err == nil && fn == nil {
		err = errNil
	}
	var s store.Rx
	if err == nil {
		s, err = v.store.Begin(ctx)
	}
	if err != nil {
		return v.volumeError("view", err)
	}
	return v.viewIn(s, fn)
}

// viewIn calls fn with a transaction, and ends it.
func (v *Volume) viewIn(s store.Rx, fn func(rx *Rx) error) error {
	rx := &Rx{rx: s}
	rx.reader = reader{fs: v, pin: rx, top: store.Root}
	v.views.Add(1)
	defer v.views.Add(-1)
	defer rx.close()
	return fn(rx)
}

// ViewAt is View for a function that reads a file or a directory first: its attributes, and if
// content is set its content. On a server, reading it and its neighbors then takes fewer trips. fn
// may be called a second time, if the volume has changed meanwhile: it must forget its results.
func (v *Volume) ViewAt(_ private.Key, ctx context.Context, name string, content bool, fn func(rx *Rx) error) error {
	if v.ahead == nil || !fs.ValidPath(name) {
		return v.View(ctx, fn)
	}
	need := store.NeedNode | store.NeedMore
	if content {
		need = store.NeedContent | store.NeedMore
	}
	s, err := v.ahead.BeginAt(ctx, store.Path{Top: store.Root, Name: name}, need)
	if err != nil {
		return v.volumeError("view", err)
	}
	changed := false
	err = v.viewIn(s, func(rx *Rx) error {
		defer func() { changed = v.ahead.Changed(s) }()
		return fn(rx)
	})
	if changed {
		return v.View(ctx, fn)
	}
	return err
}

func (v *Rx) close() {
	s := v.rx
	v.finish()
	s.End()
}

// finish lets all methods fail from now on.
func (v *Rx) finish() {
	v.rx = nil
	for _, past := range v.pasts {
		past.finish()
	}
	v.pasts = nil
}

// changesInterval is the time between two looks at the version of the volume.
const changesInterval = 5 * time.Millisecond

// Changes yields the version of the volume each time that a commit has changed it, whichever
// process made the commit. It looks every 5 ms: all commits in between are one change. A version
// only tells that something has changed since the one before. Changes that are made while the body
// of the loop runs are yielded when it ends. The iteration ends when ctx is done, without an error,
// or with the error of looking at the volume.
func (v *Volume) Changes(ctx context.Context) iter.Seq2[uint64, error] {
	return func(yield func(version uint64, err error) bool) {
		tick := time.NewTicker(changesInterval)
		defer tick.Stop()
		last, err := v.version(ctx)
		for now := last; err == nil; now, err = v.version(ctx) {
			if now != last && !yield(now, nil) {
				return
			}
			last = now
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		if ctx == nil || ctx.Err() == nil {
			yield(0, v.volumeError("changes", err))
		}
	}
}

// version returns the version of the volume. If the store knows no version, it is the version of a
// transaction.
func (v *Volume) version(ctx context.Context) (uint64, error) {
	if err := v.usable(ctx); err != nil {
		return 0, err
	}
	if version, ok := v.store.Version(); ok {
		return version, nil
	}
	rx, err := v.store.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer rx.End()
	return rx.Version(), nil
}

// volumeError names the operation and the volume, unless err names a file already or is a
// context's.
func (v *Volume) volumeError(op string, err error) error {
	if isDone(err) {
		return err
	}
	return pathError(op, v.path, err)
}

// changeIn returns a change in a transaction, which happens now, however long it has waited: times
// follow the order of changes. There is one for all, as one transaction runs at a time.
func (v *Volume) changeIn(tx store.Tx, top store.Ino) *change {
	c := &v.running
	c.Tx, c.Now, c.top = tx, time.Now().UnixNano(), top
	return c
}
