//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Bytes on which SQLite's locks lie: of the database, and of the -shm file.
const (
	pendingByte   = 0x40000000
	reservedByte  = pendingByte + 1
	sharedFirst   = pendingByte + 2
	sharedSize    = 510
	walCheckpoint = 121 // and the next byte, the lock of a recovery
	walReader1    = 124 // the first of the readers' locks, which keep the log from beginning again
)

// lockWait is how long other processes may take to let a reader in.
const lockWait = 3 * time.Second

var errLocked = errors.New("the database is locked by another process; try again when that has ended its transaction")

// lockShared takes a reader's lock, which lasts until the file is closed.
func lockShared(ctx context.Context, f *os.File) error {
	if err := lockRead(ctx, f, pendingByte, 1); err != nil {
		return err
	}
	err := lockRead(ctx, f, sharedFirst, sharedSize)
	pending := unix.Flock_t{Type: unix.F_UNLCK, Start: pendingByte, Len: 1}
	return errors.Join(err, unix.FcntlFlock(f.Fd(), unix.F_SETLK, &pending))
}

// lockRead takes a shared lock, and waits a moment for it.
func lockRead(ctx context.Context, f *os.File, start, size int64) error {
	for end := time.Now().Add(lockWait); ; {
		l := unix.Flock_t{Type: unix.F_RDLCK, Start: start, Len: size}
		err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &l)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES):
			return err
		case time.Now().After(end):
			return errLocked
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// keepLog keeps another process from copying the log of a database in WAL mode into the database,
// and from beginning it again, until release is called. Writers may go on: the frames that they
// append after the last copied commit are not part of the snapshot.
func keepLog(ctx context.Context, path string) (release func(), err error) {
	f, err := os.Open(path + "-shm")
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	if err = lockRead(ctx, f, walCheckpoint, 2); err == nil {
		err = lockRead(ctx, f, walReader1, 1)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Join(err, f.Close()))
	}
	return func() { _ = f.Close() }, nil
}

// reserved reports whether a process is about to write to a database in rollback mode.
func reserved(f *os.File) (bool, error) {
	l := unix.Flock_t{Type: unix.F_RDLCK, Start: reservedByte, Len: 1}
	err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &l)
	return l.Type != unix.F_UNLCK, err
}
