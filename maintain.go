package folio

import (
	"context"
	"errors"
	"io"

	"github.com/foliofs/folio/store"
	"github.com/foliofs/folio/store/native"
)

// What Stats and Repair return.
type (
	// Stats tells how a volume stands, and what this FS has done with it since Open.
	Stats = store.Stats
	// A RepairReport is what Repair did, and what it left: that is the CheckReport in it.
	RepairReport = store.RepairReport
	// A Repair is a problem that is one no more.
	Repair = store.Repair
)

// maintainer returns the store's part of what follows. Stores that are not ours may lack it.
func (v *FS) maintainer() (store.Maintainer, error) {
	m, ok := v.store.(store.Maintainer)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return m, nil
}

// Compact makes the volume's file as small as it can be: a copy without free pages takes its place. Files may be open and stay so; reading and
// writing wait only for a moment at the end, writing meanwhile. While another process has the volume open it fails with an error that says so, and
// nothing has changed.
func (v *FS) Compact(ctx context.Context) error { return v.CompactProgress(ctx, nil) }

// CompactProgress is Compact that calls progress now and then with the bytes copied so far, and about how many it will be.
func (v *FS) CompactProgress(ctx context.Context, progress func(done, all int64)) error {
	m, err := v.maintainer()
	if err == nil {
		err = v.updater.mayWait()
	}
	if err == nil {
		err = m.Compact(ctx, progress)
	}
	return v.volumeError("compact", err)
}

// Backup writes to w a whole volume like this one, as it is at one moment. Others write on meanwhile.
func (v *FS) Backup(ctx context.Context, w io.Writer) error {
	m, err := v.maintainer()
	if err != nil {
		return v.volumeError("backup", err)
	}
	return m.Backup(ctx, w)
}

// BackupOptions say how BackupFile works. The zero value, and nil, are good defaults.
type BackupOptions struct {
	// Replace lets BackupFile replace an existing file, at once and as a whole, when the copy is complete.
	Replace bool
	// Progress is called now and then with the bytes copied so far, and how many it will be.
	Progress func(done, all int64)
}

// BackupFile makes what Backup writes a file at path of the operating system. It appears there complete and durable, or not at all. A path that
// exists is refused with fs.ErrExist unless o.Replace is set.
func (v *FS) BackupFile(ctx context.Context, path string, o *BackupOptions) error {
	m, err := v.maintainer()
	if err != nil {
		return v.volumeError("backup", err)
	}
	if o == nil {
		o = new(BackupOptions)
	}
	return m.BackupFile(ctx, path, o.Replace, o.Progress)
}

// Stats tells how the volume stands. It reads nothing of it, and can be called at any time.
func (v *FS) Stats() Stats {
	if m, err := v.maintainer(); err == nil {
		return m.Stats()
	}
	return Stats{}
}

// CheckProgress is Check that calls progress now and then with how far it is through the bytes of the volume.
func (v *FS) CheckProgress(ctx context.Context, progress func(done, all int64)) (*CheckReport, error) {
	m, err := v.maintainer()
	if err != nil {
		return v.Check(ctx)
	}
	report, err := m.CheckProgress(ctx, progress)
	return report, v.volumeError("check", err)
}

// Repair puts right what Check finds, as far as that needs no guess and no content is lost by it: wrong counts of links, names that lead nowhere or
// are impossible, files and directories without a name, which come to lie in the directory lost+found. All of it happens in one transaction, or
// nothing does. What is left, such as content that is missing, the report names. A volume whose database is damaged is not touched.
func (v *FS) Repair(ctx context.Context) (*RepairReport, error) {
	m, err := v.maintainer()
	if err == nil {
		err = v.updater.mayWait()
	}
	if err != nil {
		return nil, v.volumeError("repair", err)
	}
	report, err := m.Repair(ctx)
	return report, v.volumeError("repair", err)
}

// RepairSchema repairs what keeps Open from opening the volume at path, and returns what it did. It
// sets PRAGMA application_id and PRAGMA user_version if they are missing and the tables are those
// of a volume: the .dump of sqlite3 loses both numbers. Where rows of sqlite_schema are damaged, it
// writes the tables and the view as the format has them; SQLite does not open such a volume, and
// Open refuses it if the row of a table is damaged. A database that is not a volume, or whose
// b-trees are damaged, is refused and left as it is. Errors are *fs.PathError.
//
// Call [FS.Repair] for what Check finds in a volume that can be opened.
func RepairSchema(ctx context.Context, path string) ([]Repair, error) {
	return native.RepairSchema(ctx, path)
}
