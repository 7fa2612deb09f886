package sqlitefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLogLeft commits to a log while there is room, and closes the database when the disk has
// become full so that the log cannot be copied: Close says so by ErrWALRemains, gives the disk back
// the room that the copy took, and loses nothing. Once there is room the next Close copies it.
func TestLogLeft(t *testing.T) {
	dir := ext4Disk(t, 4)
	d := newFullDisk(t, dir, true, 0, 4096, 5)
	if _, err := d.insert(2000); err != nil {
		t.Fatal(err)
	}
	free := fillDisk(t, dir, 64<<10)
	size := fileSize(t, d.path)
	if err := os.Truncate(d.path, size); err != nil { // as a checkpoint of SQLite does: no block beyond the end of the file is left
		t.Fatal(err)
	}
	fillRest(t, dir)
	err := d.db.Close()
	if !errors.Is(err, ErrWALRemains) || errors.Is(err, ErrFull) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "no space left") {
		t.Fatalf("Close: %v, want ErrWALRemains", err)
	}
	if got := fileSize(t, d.path); got != size {
		t.Errorf("the database has %d bytes after a copy without room, %d before", got, size)
	}
	d.db = d.reopen()
	wantWhole(t, d.db, d.rows)
	if err := d.db.Close(); !errors.Is(err, ErrWALRemains) {
		t.Errorf("Close while the disk is full: %v, want ErrWALRemains", err)
	}
	free()
	if err := os.Remove(filepath.Join(dir, "rest")); err != nil {
		t.Fatal(err)
	}
	d.db = d.reopen()
	d.over()
	if _, err := os.Stat(d.path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the log is there: %v", err)
	}
}

// TestLogLeftCheckpoint lets a checkpoint find no room: it is ErrFull, and the same DB reads on.
func TestLogLeftCheckpoint(t *testing.T) {
	dir := ext4Disk(t, 4)
	d := newFullDisk(t, dir, true, 0, 4096, 6)
	if _, err := d.insert(2000); err != nil {
		t.Fatal(err)
	}
	free := fillDisk(t, dir, 64<<10)
	if err := os.Truncate(d.path, fileSize(t, d.path)); err != nil {
		t.Fatal(err)
	}
	fillRest(t, dir)
	if err := d.db.Checkpoint(context.Background(), CheckpointTruncate); !errors.Is(err, ErrFull) {
		t.Errorf("Checkpoint: %v, want ErrFull", err)
	}
	wantWhole(t, d.db, d.rows)
	free()
	if err := os.Remove(filepath.Join(dir, "rest")); err != nil {
		t.Fatal(err)
	}
	d.over()
}

// fillRest takes every block that is free, into a file called rest.
func fillRest(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "rest"))
	for n := 4096; err == nil && n > 0; {
		if _, e := f.Write(make([]byte, n)); e == nil {
			continue
		}
		n /= 2
		err = f.Sync() // the system finds blocks for its own tables now rather than later
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}
