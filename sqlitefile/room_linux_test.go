package sqlitefile

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/race"
	"github.com/foliofs/folio/internal/reserve"
)

// smallDisks are file systems that are full soon.
var smallDisks = []struct {
	name  string
	mount func(t *testing.T) (dir string)
}{
	{"tmpfs", func(t *testing.T) string { return tmpfsDisk(t, "size=4m") }},
	{"ext4", func(t *testing.T) string { return ext4Disk(t, 12) }},
	{"ext4 with blocks of 1024", func(t *testing.T) string { return ext4Disk(t, 12, "-b", "1024") }},
}

// tmpfsDisk mounts a tmpfs, which only root can.
func tmpfsDisk(t *testing.T, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, options); err != nil {
		t.Skip("a small disk: cannot mount one:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestFullDiskRemoval fills a disk by inserting rows until there is no room, and to the last block
// by another file. Then rows can be deleted, with and without a log next to the database, and after
// that some inserted: until there is room, and without it.
func TestFullDiskRemoval(t *testing.T) {
	race.Skip(t, "it runs processes")
	for _, disk := range smallDisks[:inShort(1, len(smallDisks))] {
		for _, mode := range crashModes {
			for _, log := range []bool{false, true} {
				if log && !mode.wal {
					continue
				}
				name := disk.name + " " + mode.name
				if log {
					name += " with a log"
				}
				t.Run(name, func(t *testing.T) {
					d := newFullDisk(t, disk.mount(t), mode.wal, mode.journal, 4096, 8)
					if log {
						open(t, d.path, d.options)
					}
					d.fillUp()
					for range inShort(1, 4) {
						d.removeOnFull()
					}
					d.over()
				})
			}
		}
	}
}

// fillUp inserts rows until the disk is full, and closes and opens the database before another file
// takes the rest.
func (d *fullDisk) fillUp() {
	d.t.Helper()
	var err error
	for _, rows := range []int{300, 30, 1} {
		for err = nil; err == nil; {
			_, err = d.insert(rows)
		}
		if !errors.Is(err, ErrFull) {
			d.t.Fatal(err)
		}
	}
	d.again()
	fillRest(d.t, filepath.Dir(d.path))
}

// again closes the database and opens it.
func (d *fullDisk) again() {
	d.t.Helper()
	if err := d.db.Close(); err != nil {
		d.t.Fatal(err)
	}
	d.db = d.reopen()
}

// removeOnFull deletes the first rows, and inserts one where they were.
func (d *fullDisk) removeOnFull() {
	d.t.Helper()
	err := d.db.Update(context.Background(), func(tx *Tx) error {
		tx.UseReserve()
		t, err := tx.Table("t")
		if err != nil {
			return err
		}
		c := t.Cursor()
		if _, err := c.First(); err != nil {
			return err
		}
		row, err := c.Row()
		if err == nil {
			_, err = t.DeleteRange(row.Rowid(), row.Rowid()+999)
		}
		d.rows -= 1000
		return err
	})
	if err != nil {
		d.t.Fatalf("delete on a full disk: %v", err)
	}
	wantRows(d.t, d.db, d.rows)
	d.again()
	if _, err := d.insert(1); err != nil {
		d.t.Fatalf("insert after delete: %v", err)
	}
	d.again()
	wantWhole(d.t, d.db, d.rows)
}

// TestFullDiskAnother lets another program fill the disk while a DB is open with a log: what was
// committed can be copied, as the database has blocks for it, and rows can be deleted, also while a
// reader keeps the log from beginning again. A reader of an older state lets nothing be copied:
// these blocks must outlast a delete that needs the kept room for its frames.
func TestFullDiskAnother(t *testing.T) {
	for _, disk := range smallDisks {
		for _, older := range []bool{false, true} {
			name := disk.name
			if older {
				name += " with a reader of an older state"
			}
			t.Run(name, func(t *testing.T) { fullByAnother(t, disk.mount(t), older) })
		}
	}
}

func fullByAnother(t *testing.T, dir string, older bool) {
	d := newFullDisk(t, dir, true, 0, 4096, 9)
	var rx *Rx
	begin := func() {
		var err error
		if rx, err = d.db.BeginView(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if older {
		begin()
	}
	if _, err := d.insert(3000); err != nil {
		t.Fatal(err)
	}
	fillRest(t, filepath.Dir(d.path))
	if !older {
		begin()
	}
	d.deleteRows(1, 100)
	rx.End()
	d.deleteRows(101, 1000)
	if err := d.db.Checkpoint(t.Context(), CheckpointFull); err != nil {
		t.Errorf("a checkpoint on a full disk: %v", err)
	}
	d.again()
	if _, err := d.insert(1); err != nil {
		t.Fatalf("insert after delete: %v", err)
	}
	d.over()
}

func (d *fullDisk) deleteRows(low, high int64) {
	d.t.Helper()
	err := d.db.Update(context.Background(), func(tx *Tx) error {
		tx.UseReserve()
		t, err := tx.Table("t")
		if err == nil {
			_, err = t.DeleteRange(low, high)
		}
		return err
	})
	if err != nil {
		d.t.Fatalf("delete on a full disk: %v", err)
	}
	d.rows -= int(high - low + 1)
}

// TestPunchKeepsOldStates deletes rows on a full disk while a reader looks at an older state: none
// of its pages is punched.
func TestPunchKeepsOldStates(t *testing.T) {
	for _, disk := range smallDisks {
		t.Run(disk.name, func(t *testing.T) {
			d := newFullDisk(t, disk.mount(t), true, 0, 4096, 10)
			if _, err := d.insert(3000); err != nil {
				t.Fatal(err)
			}
			if err := d.db.Checkpoint(t.Context(), CheckpointFull); err != nil {
				t.Fatal(err)
			}
			reader := open(t, d.path, d.options)
			before := d.rows
			rx, err := reader.BeginView(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			fillRest(t, filepath.Dir(d.path))
			d.deleteRows(1, 1000)
			if err := d.db.Checkpoint(t.Context(), CheckpointPassive); err != nil && !errors.Is(err, ErrFull) {
				t.Error(err)
			}
			d.deleteRows(1001, 1010)
			n := 0
			if err := rx.Guard(func() error { return countRows(&n)(rx) }); err != nil || n != before {
				t.Errorf("the reader sees %d rows, %v; %d were there", n, err, before)
			}
			rx.End()
			wantWhole(t, d.db, d.rows)
		})
	}
}

// TestFreeLeaves reads the freelist of a database, and finds nothing in a damaged list.
func TestFreeLeaves(t *testing.T) {
	t.Parallel()
	d := &fullDisk{t: t, path: filepath.Join(t.TempDir(), "free.db"), options: &Options{Create: true, JournalMode: JournalDelete}}
	d.db = d.reopen()
	if err := d.db.Exec(t.Context(), "CREATE TABLE t (a INTEGER PRIMARY KEY, b)"); err != nil {
		t.Fatal(err)
	}
	err := d.db.Update(t.Context(), func(tx *Tx) error {
		w, err := tx.Table("t")
		if err == nil {
			err = w.Put(int64(1), int64(1), make([]byte, 100<<10))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	d.rows = 1
	d.deleteRows(1, 1)
	file := d.db.pager.Probe().File()
	leaves := func() ([]uint32, int64) {
		size, err := file.Size()
		if err != nil {
			t.Fatal(err)
		}
		return btree.FreeLeaves(file, size)
	}
	free, size := leaves()
	if len(free) != 24 || size != 4096 { // 25 overflow pages, and one of them is the trunk
		t.Errorf("%d leaves of %d bytes", len(free), size)
	}
	page1 := make([]byte, 100)
	if _, err := file.ReadAt(page1, 0); err != nil {
		t.Fatal(err)
	}
	trunk := be32(page1[btree.TrunkOffset:])
	for _, damage := range []struct {
		off  int64
		word []byte
	}{
		{int64(trunk-1)*4096 + 8, []byte{0, 0, 0, 1}},          // page 1 is no leaf
		{int64(trunk-1)*4096 + 8, []byte{0, 0, 0, 0}},          // there is no page 0
		{int64(trunk-1)*4096 + 8, []byte{1, 0, 0, 0}},          // it is beyond the end
		{int64(trunk-1) * 4096, page1[btree.TrunkOffset:][:4]}, // the chain is a circle
		{int64(trunk-1)*4096 + 4, []byte{255, 0, 0, 0}},        // more than a page holds
		{btree.FreeCountOffset, []byte{0, 0, 0, 5}},            // not as many
		{int64(trunk-1)*4096 + 12, nil},                        // the first leaf twice
	} {
		old := make([]byte, 4)
		if _, err := file.ReadAt(old, damage.off); err != nil {
			t.Fatal(err)
		}
		word := damage.word
		if word == nil {
			word = make([]byte, 4)
			if _, err := file.ReadAt(word, damage.off-4); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := file.WriteAt(word, damage.off); err != nil {
			t.Fatal(err)
		}
		if free, _ := leaves(); free != nil {
			t.Errorf("%x at %d: %d leaves", word, damage.off, len(free))
		}
		if _, err := file.WriteAt(old, damage.off); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.db.Close(); err != nil {
		t.Error(err)
	}
}

// TestRoomIsNotSeen compares the view that other programs have of a database on a tight disk: its
// size is that of its pages, and sqlite3 writes to it.
func TestRoomIsNotSeen(t *testing.T) {
	d := newFullDisk(t, tmpfsDisk(t, "size=4m"), true, 0, 4096, 11)
	if _, err := d.insert(100); err != nil {
		t.Fatal(err)
	}
	d.again()
	pages := int64(d.db.Stats().Pages)
	if err := d.db.Close(); err != nil {
		t.Fatal(err)
	}
	d.db = nil
	var st syscall.Stat_t
	if err := syscall.Stat(d.path, &st); err != nil {
		t.Fatal(err)
	}
	if st.Size != 4096*pages || st.Blocks*512 < st.Size+reserve.Size {
		t.Errorf("%d pages, %d bytes, %d of them on the disk", pages, st.Size, st.Blocks*512)
	}
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("no sqlite3 is installed")
	}
	out, err := shellCommand(t, d.path, "INSERT INTO t (b) VALUES ('sqlite'); PRAGMA integrity_check; SELECT count(*) FROM t;").CombinedOutput()
	if err != nil || string(out) != "ok\n101\n" {
		t.Errorf("sqlite3 says %q, %v", out, err)
	}
	if _, err := os.Stat(d.path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
