package pager

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// openLog opens the log. The caller must hold SHARED and mu.
func (r *readers) openLog(b *[format.HeaderSize]byte) (err error) {
	h, what := format.ParseHeader(b[:])
	size := h.PageSize
	if what != "" { // a checkpoint that was cut off may have left garbage; then the log has page 1
		if size, err = r.loggedPageSize(); err != nil || size == 0 {
			return cmp.Or(err, r.PathError("open", fmt.Errorf("%w: %s", dberr.ErrNotDatabase, what)))
		}
	}
	log, err := r.openWAL(size)
	if r.lendAlone(err) {
		log, err = r.openWAL(size)
	}
	if err != nil {
		return err
	}
	log.Synced = r.options.Durability <= DurabilityExtra
	log.Named.Store(r.options.Durability == DurabilityOff)
	log.Watch = &r.watch
	log.Failed, log.Recovered = r.synced, r.traceRecovery
	log.Lend, log.Shrunk = r.lend, r.reserve.Keep
	r.wal = log
	r.traceLinks(r.file)
	return nil
}

// lendAlone is lend for a caller that opens the log: no other connection holds the database open if
// it gets EXCLUSIVE. The caller must hold SHARED.
func (r *readers) lendAlone(err error) bool {
	if !osfile.Full(err) || r.options.ReadOnly {
		return false
	}
	if !r.sole {
		if r.file.Lock(osfile.Exclusive, format.SharedByte, format.SharedSize) != nil {
			return false
		}
		defer func() { _ = r.file.Lock(osfile.Shared, format.SharedByte, format.SharedSize) }() // fails only with the file
	}
	return r.lend(err)
}

// openWAL opens the log for writing or, where the system does not allow that, for reading.
func (r *readers) openWAL(pageSize int) (*wal.Log, error) {
	denied := r.denied
	if denied == nil {
		log, err := wal.Open(r.options.System, r.file, pageSize, r.options.NoMmap, r.sole)
		if err == nil || r.sole || !osfile.Unwritable(err) {
			return log, err
		}
		denied = err
	}
	return wal.OpenReadOnly(r.options.System, r.file, pageSize, r.options.NoMmap, r.options.Immutable, denied)
}

// loggedPageSize returns the page size that the log has, or 0 if there is none.
func (r *readers) loggedPageSize() (int, error) {
	f, err := r.options.System.OpenSide(r.file, "-wal", osfile.ReadOnly)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var b [format.WALHeaderSize]byte
	_, err = f.ReadAt(b[:], 0)
	h, ok := format.ParseWALHeader(b[:])
	if !ok {
		h.PageSize = 0
	}
	return h.PageSize, dberr.Join(dberr.IgnoreEOF(err), f.Close())
}

// checkHome gives ErrMispaired if the log does not belong to the file, and ErrMoved if it was
// before.
func (r *readers) checkHome(h *format.WALIndexHeader) error {
	log := r.wal
	known := log.Known()
	if known && r.mapping != nil && log.StayHome(r.mapping.Bytes(), h) {
		return nil
	}
	err := log.Home(h)
	switch {
	case err == nil && !known:
		if err = r.checkUsers(log); err != nil {
			log.ForgetHome()
		}
		return err
	case !errors.Is(err, wal.ErrReplaced):
		return err
	case known:
		return r.movedAway("view", r.file)
	}
	return r.PathError("open", dberr.Mispaired(log.File.Name()))
}

// errOtherUsers says that the log cannot be used yet.
var errOtherUsers = &dberr.HeldError{Err: osfile.ErrLocked, Who: "another connection uses its log for a file that was here before"}

// checkUsers gives ErrLocked if other connections hold the log open, and none of them this file:
// they have one that it has replaced. Every connection to a database in WAL mode holds SHARED for
// longer than it uses the log. Where the system can only tell by giving up locks, nothing is looked
// at.
func (r *readers) checkUsers(log *wal.Log) error {
	if log.Access != wal.AccessShared || r.sole || !osfile.SplitsLocks {
		return nil
	}
	for range 2 { // the last one may be closing
		if alone, err := log.Index.Alone(); err != nil || alone {
			return err
		}
		if shared, err := r.locks.sharedByOthers(); err != nil || shared {
			return err
		}
	}
	return errOtherUsers
}

// renewLog opens a log again that is read without the right to write, if it is not as it was. The
// caller holds mu.
func (r *readers) renewLog() error {
	w := r.wal
	if w.Access == wal.AccessShared || !w.Lost && w.Undisturbed() {
		return nil
	}
	if s := r.snapshot.Load(); s != nil && s.wal != nil {
		s.lease.Retire()
	}
	next, err := wal.OpenReadOnly(r.options.System, r.file, w.PageSize, r.options.NoMmap, r.options.Immutable, w.Denied)
	if err != nil {
		return err
	}
	next.Failed, next.Recovered = w.Failed, w.Recovered
	r.wal = next
	r.outgrown = append(r.outgrown, w)
	return r.closeOutgrown()
}

// closeOutgrown closes the logs that were opened again and have no readers any more.
func (r *readers) closeOutgrown() (err error) {
	kept := r.outgrown[:0]
	for _, w := range r.outgrown {
		if w.Index.Idle() {
			err = dberr.Join(err, w.Close())
		} else {
			kept = append(kept, w)
		}
	}
	r.outgrown = kept
	return err
}
