package sqlitefile

import (
	"fmt"
	"io/fs"
	"time"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// Files have names so that others find them. What is written to a file that has lost its name is lost with it: before a commit
// is acknowledged, the files that hold it are looked at under their names.

// lookEvery is how often that is done where commits are not synced. Where they are, it is each time.
const lookEvery = time.Millisecond

// lookDue reports whether the files are to be looked at. The caller commits a group.
func (db *DB) lookDue() bool {
	if db.options.Durability <= Extra {
		return true
	}
	now := time.Now()
	if now.Sub(db.looked) < lookEvery {
		return false
	}
	db.looked = now
	return true
}

// inPlace ends writing if a file is not to be found under its name any more. The error matches ErrMoved.
func (db *DB) inPlace(files ...osfile.Handle) error {
	for _, f := range files {
		moved, err := f.Moved()
		if err != nil {
			return err
		}
		if moved {
			return db.stop(&fs.PathError{Op: "commit", Path: f.Name(), Err: ErrMoved})
		}
	}
	return nil
}

// whole ends writing if the log was cut off before the end of frame last, or its index before the end of what was in use.
func (db *DB) whole(log *wal, last uint32) error {
	size, err := log.file.Size()
	if err == nil && last > 0 && size < format.FrameOffset(last+1, log.pageSize) {
		err = db.stop(corruptFile(log.file.Name(), 0, fmt.Sprintf("it was cut off to %d bytes while it was open", size)))
	}
	if err != nil {
		return err
	}
	if log.index.heap != nil {
		return nil
	}
	size, err = log.index.file.Size()
	if err == nil && size < log.index.size.Load() {
		err = db.stop(corruptFile(log.index.file.Name(), 0, fmt.Sprintf("it was cut off to %d bytes while it was open", size)))
	}
	return err
}

// files returns the files that hold what is committed by the log of a database.
func (w *wal) files(db osfile.Handle) []osfile.Handle {
	if w.index.heap != nil {
		return []osfile.Handle{db, w.file}
	}
	return []osfile.Handle{db, w.file, w.index.file}
}

// stop ends writing because of what has become of a file.
func (db *DB) stop(err error) error {
	db.fail(err)
	return err
}
