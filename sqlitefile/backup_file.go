package sqlitefile

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
)

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
