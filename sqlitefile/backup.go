package sqlitefile

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// backupBuffer is how many bytes of a copy are handed on at once; a multiple of every page size.
const backupBuffer = 1 << 20

// Backup writes a copy of the database to w, as it is at one moment: one whole file in rollback
// mode, without a journal or log, that any SQLite opens. Free pages are copied as they are; Compact
// leaves them out.
//
// In WAL mode writers go on meanwhile, though the log cannot restart before the copy is
// complete. In rollback mode they wait, for as long as their BusyTimeout: let w be fast, or a
// temporary file.
//
// The error is that of ctx, of w, or of reading; the bytes that w has got until then are no
// database.
func (db *DB) Backup(ctx context.Context, w io.Writer) error {
	return db.copyTo(ctx, w, nil)
}

// copyTo is Backup that says in all, unless that is nil, how many bytes there will be.
func (db *DB) copyTo(ctx context.Context, w io.Writer, all *int64) error {
	rx, err := db.BeginView(ctx)
	if err != nil {
		return err
	}
	defer rx.End()
	if all != nil {
		*all = int64(rx.pager.PageCount) * int64(rx.pager.Header.PageSize)
	}
	buf := make([]byte, 0, max(backupBuffer, rx.pager.Header.PageSize))
	for pgno := uint32(1); pgno <= rx.pager.PageCount; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := rx.Guard(func() (err error) { buf, pgno, err = rx.appendPages(buf[:0], pgno); return err }); err != nil {
			return err
		}
		n, err := w.Write(buf)
		if err == nil && n < len(buf) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return db.pager.PathError("backup", err)
		}
	}
	return nil
}

// appendPages fills buf with pages from pgno on and returns the page after the last one.
func (rx *Rx) appendPages(buf []byte, pgno uint32) ([]byte, uint32, error) {
	for ; pgno <= rx.pager.PageCount && len(buf) < cap(buf); pgno++ {
		if pgno == rx.pager.LockPage { // holds nothing, and is never read
			buf = append(buf, make([]byte, rx.pager.Header.PageSize)...)
			continue
		}
		page, err := rx.pager.WholePage(pgno)
		if err != nil {
			return buf, pgno, err
		}
		buf = append(buf, page...)
		if pgno == 1 {
			standAlone(buf, rx.pager.PageCount)
		}
	}
	return buf, pgno, nil
}

// standAlone lets page 1 say that the database is in rollback mode, and how large it is.
func standAlone(page1 []byte, pages uint32) {
	page1[18], page1[19] = format.VersionRollback, format.VersionRollback
	binary.BigEndian.PutUint32(page1[28:], pages)
	copy(page1[92:96], page1[24:28])
}

// BackupOptions say how BackupFile works. The zero value, and nil, are good defaults.
type BackupOptions struct {
	// Replace allows the file to exist: it is replaced when the copy is complete. If it is a
	// database it must not be in use.
	Replace bool
	// Progress, if it is not nil, is called from time to time with the bytes that were copied, and
	// with those of all.
	Progress func(done, total int64)
}

// BackupFile makes the copy that Backup writes a file at path, which appears there complete and
// durable, or not at all: it is a temporary file next to it until then. An existing file is
// fs.ErrExist unless o.Replace. The copy gets the permissions of the database, and its owner and
// group as far as the system allows it.
func (db *DB) BackupFile(ctx context.Context, path string, o *BackupOptions) (err error) {
	if o == nil {
		o = new(BackupOptions)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	access, err := db.pager.Access()
	if err != nil {
		return db.pager.PathError("backup", err)
	}
	t, err := newTarget(path, &BuildOptions{Replace: o.Replace, private: true})
	if err != nil {
		return backupError(path, err)
	}
	defer func() { err = cmp.Or(err, backupError(path, t.tmp.Discard())) }()
	out := &backupOutput{Writer: io.NewOffsetWriter(t.tmp, 0), progress: o.Progress}
	err = db.copyTo(ctx, out, &out.all)
	if out.err != nil {
		return backupError(path, out.err)
	}
	if err != nil {
		return err
	}
	return backupError(path, t.placeAs(access))
}

// placeAs gives a complete file this access, then its name.
func (t *buildTarget) placeAs(a osfile.Access) error {
	if err := t.tmp.Adopt(a); err != nil {
		return err
	}
	return t.place()
}

// backupError names path and not the temporary file.
func backupError(path string, err error) error {
	if err == nil {
		return nil
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return &fs.PathError{Op: "backup", Path: path, Err: dberr.Explain(err)}
}

// A backupOutput remembers the error of its Writer, to tell it from errors of the database.
type backupOutput struct {
	io.Writer
	err       error
	done, all int64
	progress  func(done, total int64)
}

func (w *backupOutput) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.done += int64(n)
	if err != nil {
		w.err = err
	} else if w.progress != nil {
		w.progress(w.done, w.all)
	}
	return n, err
}
