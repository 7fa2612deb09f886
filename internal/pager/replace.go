package pager

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
)

// A replacer puts another file in place of the database.
type replacer struct {
	*core
	locks   *fileLocks
	readers *readers
	commits *committer
	pins    *pinSet
	draft   string // the suffix of the copy; the writer's
}

// CompactSuffix ends the name of the copy.
const CompactSuffix = "-compact"

// replace is Replace once this pager is the writer and no transaction that writes runs.
func (r *replacer) replace(ctx context.Context, fill func(rx *Rx, file osfile.Handle) error) (err error) {
	if err := r.retryWriter(ctx, r.checkAlone); err != nil {
		return err
	}
	if r.draft, err = r.freeDraft(); err != nil {
		return r.PathError("compact", err)
	}
	name := r.file.Name() + r.draft
	remove := func() error { return dberr.IgnoreMissing(r.options.System.Remove(name)) }
	if err := r.fillDraft(ctx, fill); err != nil {
		return dberr.Join(err, remove())
	}
	replaced := false
	err = r.alone(ctx, func() (err error) {
		replaced, err = r.exchange(name)
		return err
	})
	if err != nil && !replaced {
		err = dberr.Join(err, remove())
	}
	return r.PathError("compact", err)
}

// checkAlone gives ErrLocked while other connections hold the database open, as far as that
// shows: in rollback mode SQLite holds no lock between two transactions.
func (r *replacer) checkAlone() error {
	if moved, err := r.file.Moved(); err != nil || moved {
		return dberr.Join(err, r.PathError("compact", dberr.ErrMoved))
	}
	locked, err := r.locks.sharedByOthers()
	if err == nil && (locked && r.commits.writer.base.wal != nil || r.elsewhere()) {
		err = errInUse
	}
	return err
}

// elsewhere reports whether the system knows that other processes hold the file open.
func (r *replacer) elsewhere() bool {
	f, ok := r.file.(interface{ Elsewhere() bool })
	return ok && f.Elsewhere()
}

// exchange puts the new file in place of the database, and reports whether it did. The caller is
// alone.
func (r *replacer) exchange(name string) (replaced bool, err error) {
	if r.elsewhere() { // another process has opened it while the copy was made
		return false, r.busyError(errInUse)
	}
	next, err := r.lockNext()
	if err != nil {
		return false, err
	}
	r.pins.mu.Lock() // no call pins anything on a file that is about to go
	defer r.pins.mu.Unlock()
	carrier, err := r.pins.carry(r.draft)
	if carrier != nil {
		defer func() { err = dberr.Join(err, carrier.Close()) }()
	}
	if err != nil {
		return false, dberr.Join(err, closeIf(next))
	}
	if err = r.removeCompanions(); err != nil {
		return false, dberr.Join(err, closeIf(next))
	}
	if !osfile.ReplacesOpen {
		return r.exchangeClosed(name, next)
	}
	if err = r.options.System.Rename(name, r.file.Name()); err != nil {
		return false, dberr.Join(err, closeIf(next))
	}
	return true, r.reopen(next)
}

// exchangeClosed is exchange on a system that replaces only files that are not open. The lock on
// the old file goes with its handle, but a connection that opens it then keeps it from being
// replaced.
func (r *replacer) exchangeClosed(name string, next osfile.Handle) (replaced bool, err error) {
	if err := r.file.Close(); err != nil {
		return false, dberr.Join(err, closeIf(next))
	}
	err = r.options.System.Rename(name, r.file.Name())
	if err == nil {
		return true, r.reopen(next)
	}
	if errors.Is(err, osfile.ErrLocked) {
		err = r.busyError(errInUse)
	}
	return false, dberr.Join(err, closeIf(next), r.reopen(nil))
}

// closeIf closes a handle unless it is nil.
func closeIf(file osfile.Handle) error {
	if file == nil {
		return nil
	}
	return file.Close()
}

// fillDraft makes the new file.
func (r *replacer) fillDraft(ctx context.Context, fill func(rx *Rx, file osfile.Handle) error) error {
	file, err := r.options.System.OpenSide(r.file, r.draft, osfile.ReadWrite|osfile.CreateNew)
	if err != nil {
		return err
	}
	return dberr.Join(r.writeDraft(ctx, file, fill), file.Close())
}

func (r *replacer) writeDraft(ctx context.Context, file osfile.Handle, fill func(rx *Rx, file osfile.Handle) error) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if err := fill(&Rx{Snapshot: r.commits.writer.base, core: r.core}, file); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil || r.options.Durability == DurabilityOff {
		return err
	}
	return file.Sync()
}

// removeCompanions makes sure that no journal, finished but not gone, comes back to life beside the
// new file, nor the log: after a crash at any moment they are gone for good before a file that they
// do not belong to has the name.
func (r *replacer) removeCompanions() error {
	if err := dberr.IgnoreMissing(r.options.System.Remove(r.readers.recovery.journal.Name())); err != nil {
		return err
	}
	if r.options.Durability == DurabilityOff {
		return nil
	}
	return r.options.System.SyncDir(r.file.Name())
}

// reopen goes on with the new file, which next has locked if the pager is the only user of the
// file. The old one stays locked.
func (r *replacer) reopen(next osfile.Handle) error {
	r.readers.mu.Lock()
	defer r.readers.mu.Unlock()
	old := r.file
	file, err := r.options.System.Open(old.Name(), osfile.ReadWrite, 0)
	if err == nil {
		r.file = file
		if osfile.ReplacesOpen {
			r.readers.replaced = append(r.readers.replaced, old)
		}
		err = dberr.Join(r.takeOver(next), r.pins.lock(file))
	} else {
		err = dberr.Join(err, closeIf(next))
	}
	if err != nil { // nothing must be read of the old file, or written to it
		r.readers.lost = r.PathError("open", err)
		return r.readers.lost
	}
	for _, m := range append(r.readers.retired, r.readers.mapping) {
		if m != nil {
			err = dberr.Join(err, m.Unmap())
		}
	}
	r.readers.retired, r.readers.mapping = nil, nil
	r.readers.snapshot.Store(r.readers.snapshot.Load().outdated())
	return dberr.Join(err, r.settle(old))
}

// settle makes the name of the new file durable, and gives back the disk space of the old one.
// Without the first nothing may be written: a crash could bring the old file back.
func (r *replacer) settle(old osfile.Handle) error {
	if r.options.Durability == DurabilityOff {
		return nil
	}
	if err := r.options.System.SyncDir(r.file.Name()); err != nil {
		r.fail(err)
		return err
	}
	if f, ok := old.(interface{ Named() bool }); ok && !f.Named() {
		_ = old.Truncate(int64(r.readers.snapshot.Load().Header.PageSize)) // not to nothing: SQLite would remove the log of the new file
	}
	return nil
}

// maxDrafts is how many names there are for the copy that Compact makes.
const maxDrafts = 9

// freeDraft returns the suffix of a name for the copy. It removes the copy that a crash has left,
// if that was not complete.
func (r *replacer) freeDraft() (string, error) {
	for i := 1; i <= maxDrafts; i++ {
		suffix := CompactSuffix
		if i > 1 {
			suffix = fmt.Sprintf("%s-%d", CompactSuffix, i)
		}
		if free, err := r.removeDraft(suffix); free || err != nil {
			return suffix, err
		}
	}
	return "", fmt.Errorf("%w: there are files with all names of the form NAME%s: remove what is not needed", fs.ErrExist, CompactSuffix)
}

// removeDraft reports whether a suffix is free, and makes it so if a copy has it that a crash has
// left. Page 1 is written last (O1), so a copy that was not complete begins with
// zeros. A file that does not may be the user's: a backup, for example.
func (r *replacer) removeDraft(suffix string) (free bool, err error) {
	size, there, err := r.options.System.SideExists(r.file, suffix)
	if err != nil || !there {
		return err == nil, err
	}
	if size > 0 {
		if begun, err := r.begunDraft(suffix); !begun || err != nil {
			return false, err
		}
	}
	return true, dberr.IgnoreMissing(r.options.System.Remove(r.file.Name() + suffix))
}

// begunDraft reports whether a file is a copy that was begun.
func (r *replacer) begunDraft(suffix string) (bool, error) {
	file, err := r.options.System.OpenSide(r.file, suffix, osfile.ReadWrite)
	if err != nil {
		return false, err
	}
	page1 := make([]byte, r.commits.writer.base.Header.PageSize)
	n, err := file.ReadAt(page1, 0)
	if err == io.EOF {
		err = nil
	}
	return bytes.Count(page1[:n], []byte{0}) == n, dberr.Join(err, file.Close())
}
