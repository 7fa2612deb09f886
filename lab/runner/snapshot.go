package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// This file copies the database of a user by the rules of SQLite's file format for readers:
// https://sqlite.org/fileformat2.html and https://sqlite.org/walformat.html. Drivers get the copy.
// So no driver touches the user's file, or leaves a -wal or -shm file next to it, and other
// processes that write to it change no answer.

// checkDatabase returns an error if the file is no database.
func checkDatabase(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%w; --db takes the file of a SQLite database", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a file; --db takes that of a SQLite database", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%w; take a copy of it that may be read", err)
	}
	defer f.Close()
	head := make([]byte, 100)
	if _, err := io.ReadFull(f, head); err != nil || string(head[:16]) != "SQLite format 3\x00" {
		return fmt.Errorf("%s: not a SQLite database; --db takes the file of one, unencrypted", path)
	}
	return nil
}

// snapshot copies a database with its log, as they are at one moment.
func snapshot(ctx context.Context, from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close() // which gives its locks back
	if err := lockShared(ctx, f); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	release, err := keepLog(ctx, from)
	if err != nil {
		return err
	}
	defer release()
	if err := refuseHot(f, from); err != nil {
		return err
	}
	if err := room(f, from, to); err != nil {
		return err
	}
	if err := copyFile(ctx, f, to); err != nil {
		return err
	}
	wal, err := os.Open(from + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer wal.Close()
	if info, err := wal.Stat(); err != nil || info.Size() == 0 {
		return err
	}
	return copyFile(ctx, wal, to+"-wal")
}

// room refuses a copy that has no place.
func room(f *os.File, from, to string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if wal, err := os.Stat(from + "-wal"); err == nil {
		size += wal.Size()
	}
	if free := freeBytes(filepath.Dir(to)); free >= 0 && free < size {
		return fmt.Errorf("%s: its copy needs %d MB, there are %d MB free in %s; make room there", from, size>>20, free>>20, to)
	}
	return nil
}

// refuseHot refuses a database that a crash left half changed. The next process that opens it for
// writing rolls that back, and the laboratory must not do so. A journal is hot if its header was
// not zeroed and no process is writing.
func refuseHot(f *os.File, from string) error {
	j, err := os.Open(from + "-journal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer j.Close()
	first := make([]byte, 1)
	if n, _ := j.Read(first); n == 0 || first[0] == 0 {
		return nil
	}
	if writing, err := reserved(f); err != nil || writing {
		return err
	}
	return fmt.Errorf("%s: a crash left a transaction half done, in %s-journal; open it once with a program that may write", from, from)
}

// copyFile copies a file that is open, by the system's quickest way.
func copyFile(ctx context.Context, from *os.File, to string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	for err == nil {
		const part = 64 << 20
		if _, err = io.CopyN(f, from, part); err == nil {
			err = ctx.Err()
		}
	}
	if err == io.EOF {
		err = nil
	}
	return errors.Join(err, f.Close())
}
