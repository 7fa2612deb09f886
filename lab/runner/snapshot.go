package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/foliofs/folio/sqlitefile"
)

// checkDatabase returns an error if the file is no database.
func checkDatabase(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%w; --db takes the file of a SQLite database", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a file; --db takes that of a SQLite database", path)
	}
	_, err = readHead(path)
	return err
}

// readHead returns the header of a database.
func readHead(path string) (head [100]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return head, fmt.Errorf("%w; take a copy of it that may be read", err)
	}
	defer f.Close()
	if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:16]) != "SQLite format 3\x00" {
		return head, fmt.Errorf("%s: not a SQLite database; --db takes the file of one, unencrypted", path)
	}
	return head, nil
}

// lockWait is how long other processes may take to let a reader in.
const lockWait = 3 * time.Second

// snapshot copies a database as it is at one moment, with the journal mode that it has. Drivers get
// the copy. So no driver touches the user's file, or leaves a -wal or -shm file next to it, and
// other processes that write to it change no answer.
func snapshot(ctx context.Context, from, to string) error {
	head, err := readHead(from)
	if err != nil {
		return err
	}
	wal := head[modeAt] == modeWAL
	_, err = os.Stat(from + "-shm")
	atRest := wal && errors.Is(err, fs.ErrNotExist) // to open it otherwise would make one
	if err := checkSpace(from, to); err != nil {
		return err
	}
	db, err := sqlitefile.Open(from, &sqlitefile.Options{ReadOnly: true, Immutable: atRest, BusyTimeout: lockWait})
	if err != nil {
		return refusal(from, err)
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	err = refusal(from, db.Backup(ctx, f))
	if err == nil && wal {
		_, err = f.WriteAt([]byte{modeWAL, modeWAL}, modeAt)
	}
	return errors.Join(err, f.Close(), db.Close())
}

// checkSpace refuses a copy that the disk has no space for.
func checkSpace(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	log, err := logSize(from)
	if err != nil {
		return err
	}
	size := info.Size() + log
	if free := freeBytes(filepath.Dir(to)); free >= 0 && free < size {
		return fmt.Errorf("%s: its copy needs %d MB, there are %d MB free in %s; make room there", from, size>>20, free>>20, to)
	}
	return nil
}

// refusal gives advice for a database that cannot be read now.
func refusal(path string, err error) error {
	switch {
	case errors.Is(err, sqlitefile.ErrBusy):
		return fmt.Errorf("%s: the database is locked by another process; try again when that has ended its transaction", path)
	case errors.Is(err, sqlitefile.ErrNeedsRecovery):
		return fmt.Errorf("%s: a crash left a transaction half done, in %[1]s-journal; open it once with a program that may write", path)
	}
	return err
}
