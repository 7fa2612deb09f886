package sqlitefile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/race"
	"github.com/foliofs/folio/internal/wal"
)

// ext4Disk mounts an ext4 file system of so many MiB, which only root can. Where that cannot be
// done the test is skipped.
func ext4Disk(t *testing.T, size int, mkfs ...string) (dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a small disk: only root can mount one")
	}
	image := filepath.Join(memoryDir(t), "disk")
	writeFile(t, image, make([]byte, size<<20))
	args := append([]string{"-q", "-F", "-O", "^has_journal", "-m", "0"}, mkfs...)
	if out, err := exec.Command("mkfs.ext4", append(args, image)...).CombinedOutput(); err != nil {
		t.Skipf("a small disk: mkfs.ext4: %v %s", err, out)
	}
	dir = t.TempDir()
	if out, err := exec.Command("mount", "-o", "loop", image, dir).CombinedOutput(); err != nil {
		t.Skipf("a small disk: mount: %v %s", err, out)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// memoryDir returns a new directory in memory, if the system has one there: syncs of a disk whose
// image lies in it are quick.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "folio")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillDisk leaves at most so many bytes free, and returns a function that frees the rest.
func fillDisk(t *testing.T, dir string, leave int) (free func()) {
	t.Helper()
	left, ballast := filepath.Join(dir, "left"), filepath.Join(dir, "ballast")
	writeFile(t, left, make([]byte, leave))
	f, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	for size := 64 << 10; size >= 512 && err == nil; {
		if _, err = f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size, err = size/2, nil
		}
	}
	if err := errors.Join(err, f.Close(), os.Remove(left)); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(ballast); err != nil {
			t.Error(err)
		}
	}
}

// TestFullDisk fills a real disk while a database is being written: it is ErrFull, nothing that was
// acknowledged is lost, readers go on, and once there is room the same DB writes again.
func TestFullDisk(t *testing.T) {
	for i, mode := range crashModes {
		for j, block := range []string{"1024", "4096"} {
			if (i+j)%inQuick(2, 1) != 0 {
				continue
			}
			t.Run(mode.name+" "+block, func(t *testing.T) {
				d := newFullDisk(t, ext4Disk(t, 4, "-b", block), mode.wal, mode.journal, 512<<(3*((i+j)%2)), uint64(2*i+j))
				for range 4 {
					d.exhaust(d.rng.IntN(100 << 10))
				}
				d.over()
			})
		}
	}
}

// TestFullDiskIndex fills a disk just before the wal-index needs its second block.
func TestFullDiskIndex(t *testing.T) {
	for _, block := range []string{"1024", "4096"} {
		t.Run(block, func(t *testing.T) {
			d := newFullDisk(t, ext4Disk(t, 12, "-b", block), true, 0, 512, 9)
			if _, err := d.insert(1); err != nil { // so that the reader needs the log
				t.Fatal(err)
			}
			rx, err := d.db.BeginView(t.Context()) // the log cannot begin anew
			if err != nil {
				t.Fatal(err)
			}
			for d.db.Stats().LogFrames < 4000 {
				if _, err := d.insert(50); err != nil {
					t.Fatal(err)
				}
			}
			for range 8 {
				d.exhaust(d.rng.IntN(50 << 10))
				if d.db.Stats().LogFrames > 4062 {
					break
				}
			}
			rx.End()
			d.over()
		})
	}
}

// TestFullDiskRecycles changes what a database holds where there is no room for a longer log: once
// that was found out, the log begins anew.
func TestFullDiskRecycles(t *testing.T) {
	dir := ext4Disk(t, 4)
	d := newFullDisk(t, dir, true, 0, 4096, 1)
	const rows = 100
	put := func(from, to int64) error {
		return d.db.Update(t.Context(), func(tx *Tx) error {
			table, err := tx.Table("t")
			for a := from; a < to && err == nil; a++ {
				err = table.Put(a, a, make([]byte, 3000))
			}
			return err
		})
	}
	if err := errors.Join(put(0, rows), d.db.Checkpoint(t.Context(), CheckpointTruncate)); err != nil {
		t.Fatal(err)
	}
	d.rows = rows
	free := fillDisk(t, dir, 200<<10)
	failed := 0
	for i := range int64(5 * rows) {
		a := i % rows
		err := put(a, a+1)
		for n := 0; errors.Is(err, ErrFull) && n < 500; n++ {
			failed++
			d.db.pager.Probe().WaitIdle() // a lease may keep the log for some milliseconds
			err = put(a, a+1)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if failed == 0 {
		t.Error("the disk was never full")
	}
	free()
	d.over()
}

// TestFullDiskShared lengthens a wal-index with less and less room: it fails, or every word of it
// can be written. Blocks of the disk are smaller than pages of memory here.
func TestFullDiskShared(t *testing.T) {
	dir := ext4Disk(t, 4, "-b", "1024")
	for leave := 48 << 10; leave > 0; leave -= 4 << 10 {
		x, err := wal.OpenIndex(osfile.OS, handleOf(t, filepath.Join(dir, fmt.Sprint(leave))))
		if err != nil {
			t.Fatal(err)
		}
		free := fillDisk(t, dir, leave)
		b, err := x.Extend(0)
		if err == nil {
			err = dberr.Guard(func() error {
				for i := range b {
					atomic.StoreUint32(&b[i], 1)
				}
				return nil
			})
		}
		if err != nil && !osfile.Full(err) {
			t.Errorf("%d bytes are free: %v", leave, err)
		}
		free()
		if err := errors.Join(x.Close(), os.Remove(x.File.Name())); err != nil {
			t.Error(err)
		}
	}
}

// TestFullDiskInodes lets a disk have no room for one more file, a journal or a log.
func TestFullDiskInodes(t *testing.T) {
	for _, mode := range crashModes {
		t.Run(mode.name, func(t *testing.T) {
			dir := ext4Disk(t, 4, "-N", "32")
			d := newFullDisk(t, dir, mode.wal, mode.journal, 1024, 3)
			if err := d.db.Close(); err != nil {
				t.Fatal(err)
			}
			var err error
			var names []string
			for n := 0; err == nil && n < 100; n++ {
				names = append(names, filepath.Join(dir, fmt.Sprint("file", n)))
				err = os.WriteFile(names[n], nil, 0o644)
			}
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			if d.db, err = Open(d.path, d.options); err == nil {
				_, err = d.insert(1)
			}
			if !errors.Is(err, ErrFull) && (mode.wal || mode.journal == JournalDelete) {
				t.Errorf("no room for a file: %v, want ErrFull", err)
			}
			for _, name := range names {
				_ = os.Remove(name)
			}
			if d.db == nil {
				d.db = take1(t, d.reopen(), nil)
			}
			d.over()
		})
	}
}

// A fullDisk is a database on a disk that becomes full.
type fullDisk struct {
	t       *testing.T
	path    string
	options *Options
	db      *DB
	rng     *rand.Rand
	rows    int // acknowledged
	full    int // how often the disk was full
}

func newFullDisk(t *testing.T, dir string, wal bool, journal JournalMode, pageSize int, seed uint64) *fullDisk {
	t.Helper()
	d := &fullDisk{t: t, path: filepath.Join(dir, "full.db"), rng: rand.New(rand.NewPCG(seed, 6))}
	d.options = &Options{Create: true, JournalMode: journal, PageSize: pageSize, BusyTimeout: time.Minute}
	if wal {
		d.options.JournalMode = JournalWAL
	}
	d.db = d.reopen()
	t.Cleanup(func() { // before the disk goes
		if d.db != nil {
			_ = d.db.Close()
		}
	})
	if err := d.db.Exec(t.Context(), "CREATE TABLE t (a INTEGER PRIMARY KEY, b)"); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *fullDisk) reopen() *DB {
	d.t.Helper()
	db, err := Open(d.path, d.options)
	if err != nil {
		d.t.Fatal(err)
	}
	return db
}

// insert commits so many rows.
func (d *fullDisk) insert(rows int) (int, error) {
	err := d.db.Update(context.Background(), func(tx *Tx) error {
		t, err := tx.Table("t")
		for range rows {
			if err == nil {
				_, err = t.Insert(nil, make([]byte, 1+d.rng.IntN(300)))
			}
		}
		return err
	})
	if err == nil {
		d.rows += rows
	}
	return d.rows, err
}

// exhaust fills the disk but for some bytes, inserts rows until that is not enough, and frees the
// disk.
func (d *fullDisk) exhaust(leave int) {
	d.t.Helper()
	free := fillDisk(d.t, filepath.Dir(d.path), leave)
	var err error
	for n := 0; err == nil && n < 20_000; n++ {
		_, err = d.insert(1 + d.rng.IntN(40))
	}
	if err != nil && !errors.Is(err, ErrFull) || err == nil {
		d.t.Fatalf("on a full disk: %v, want ErrFull", err)
	}
	d.full++
	wantRows(d.t, d.db, d.rows)
	free()
	if _, err := d.insert(1); err != nil {
		d.t.Fatalf("once there is room: %v", err)
	}
	err = d.db.Update(context.Background(), func(tx *Tx) error { // so that there is room for the next time
		t, err := tx.Table("t")
		if err == nil {
			_, err = t.DeleteRange(1, 1<<40)
		}
		return err
	})
	if err != nil {
		d.t.Fatalf("to make room: %v", err)
	}
	d.rows = 0
}

// over looks at what is there, by this package and by SQLite.
func (d *fullDisk) over() {
	d.t.Helper()
	if _, err := d.insert(3); err != nil {
		d.t.Fatal(err)
	}
	wantWhole(d.t, d.db, d.rows)
	if err := d.db.Close(); err != nil {
		d.t.Error(err)
	}
	d.db = d.reopen()
	wantWhole(d.t, d.db, d.rows)
	err := d.db.Close()
	d.db = nil
	if err != nil {
		d.t.Error(err)
	}
	out, err := shellCommand(d.t, d.path, "PRAGMA integrity_check; SELECT count(*) FROM t;").CombinedOutput()
	if want := fmt.Sprintf("ok\n%d\n", d.rows); err != nil || string(out) != want {
		d.t.Errorf("sqlite3 says %q, %v, want %q", out, err, want)
	}
}

const limitEnv = "FOLIO_LIMIT"

// TestLimits lets processes of their own run into limits of the system.
func TestLimits(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	for _, limit := range []string{"file size", "open files"} {
		for _, mode := range crashModes {
			t.Run(limit+" "+mode.name, func(t *testing.T) {
				t.Parallel()
				cmd := exec.Command(os.Args[0], "-test.run=^TestLimitProcess$", "-test.v")
				cmd.Env = append(os.Environ(), limitEnv+"="+limit+"/"+mode.name)
				if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "limit reached") {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

// TestLimitProcess is not a test but what TestLimits runs.
func TestLimitProcess(t *testing.T) {
	limit, name, ok := strings.Cut(os.Getenv(limitEnv), "/")
	if !ok {
		t.Skip("only a process of TestLimits")
	}
	for _, mode := range crashModes {
		if mode.name != name {
			continue
		}
		d := newFullDisk(t, t.TempDir(), mode.wal, mode.journal, 4096, 1)
		if limit == "file size" {
			limitSize(t, d)
		} else {
			limitFiles(t, d)
		}
		d.over()
	}
}

func limitSize(t *testing.T, d *fullDisk) {
	was := syscall.Rlimit{}
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	low := was
	low.Cur = 1 << 20
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &low); err != nil {
		t.Fatal(err)
	}
	var err error
	for n := 0; err == nil && n < 20_000; n++ {
		_, err = d.insert(100)
	}
	if !errors.Is(err, ErrFull) {
		t.Fatalf("beyond the limit of a file: %v, want ErrFull", err)
	}
	t.Log("limit reached:", err)
	wantRows(t, d.db, d.rows)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
}

func limitFiles(t *testing.T, d *fullDisk) {
	low := syscall.Rlimit{Cur: 64, Max: 64}
	if err := d.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	var err error
	var taken []*os.File
	for err == nil {
		var f *os.File
		if f, err = os.Open(os.DevNull); err == nil {
			taken = append(taken, f)
		}
	}
	for free := range 6 { // as many descriptors are left
		db, err := Open(d.path, d.options)
		if err == nil {
			d.db = db
			_, err = d.insert(1)
			err = errors.Join(err, db.Close())
		}
		switch {
		case errors.Is(err, syscall.EMFILE):
			t.Log("limit reached:", err)
		case err != nil:
			t.Errorf("with %d descriptors: %v", free, err)
		}
		_ = taken[free].Close()
	}
	for _, f := range taken[6:] {
		_ = f.Close()
	}
	d.db = d.reopen()
}

const syncEnv = "FOLIO_SYNC_DATABASE"

// TestSyncFails lets each fsync of a real process fail in turn, once: the commit is reported as
// failed, nothing more is written, reading goes on, and the database can be opened again with all
// that was acknowledged.
func TestSyncFails(t *testing.T) {
	race.Skip(t, "it runs processes")
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("failing the syncs of a process: no strace is installed")
	}
	for _, mode := range crashModes {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n <= 40; n += inQuick(7, inShort(3, 1)) {
				path := filepath.Join(t.TempDir(), "sync.db")
				newFullDiskAt(t, path, mode.wal, mode.journal)
				cmd := exec.Command(strace, "-f", "-qq", "-o", os.DevNull, "-e", "trace=fsync,fdatasync", "-e", fmt.Sprintf("inject=fsync,fdatasync:error=EIO:when=%d", n),
					os.Args[0], "-test.run=^TestSyncProcess$", "-test.v")
				cmd.Env = append(os.Environ(), syncEnv+"="+mode.name+"/"+path, "GODEBUG=asyncpreemptoff=1")
				out, err := cmd.CombinedOutput()
				if strings.Contains(string(out), "ptrace") {
					t.Skipf("failing the syncs of a process: %s", out)
				}
				if err != nil {
					t.Fatalf("fsync %d: %v\n%s", n, err, out)
				}
				acked, failed := syncLines(out)
				checkSynced(t, n, path, acked)
				if !failed {
					if n < 5 {
						t.Errorf("fsync %d has not failed", n)
					}
					return
				}
			}
		})
	}
}

func newFullDiskAt(t *testing.T, path string, wal bool, journal JournalMode) {
	t.Helper()
	o := &Options{Create: true, JournalMode: journal}
	if wal {
		o.JournalMode = JournalWAL
	}
	db, err := Open(path, o)
	if err == nil {
		err = errors.Join(db.Exec(t.Context(), "CREATE TABLE t (a INTEGER PRIMARY KEY, b)"), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// syncLines reads what a TestSyncProcess has printed.
func syncLines(out []byte) (acked int, failed bool) {
	for s := bufio.NewScanner(strings.NewReader(string(out))); s.Scan(); {
		if s.Text() == "acknowledged" {
			acked++
		}
		failed = failed || strings.HasPrefix(s.Text(), "failed")
	}
	return acked, failed
}

func checkSynced(t *testing.T, n int, path string, acked int) {
	t.Helper()
	db := open(t, path, nil)
	rows := 0
	if err := db.View(t.Context(), countRows(&rows)); err != nil || rows < acked || rows > acked+1 {
		t.Fatalf("fsync %d: %d rows, %v; %d were acknowledged", n, rows, err, acked)
	}
	wantWhole(t, db, rows)
}

// TestSyncProcess is not a test but what TestSyncFails runs: it commits rows, until one fails.
func TestSyncProcess(t *testing.T) {
	name, path, ok := strings.Cut(os.Getenv(syncEnv), "/")
	if !ok {
		t.Skip("only a process of TestSyncFails")
	}
	runtime.LockOSThread() // strace counts by thread
	o := &Options{Durability: DurabilityExtra}
	for _, mode := range crashModes {
		if mode.name == name {
			o.JournalMode = mode.journal
		}
	}
	db, err := Open("/"+strings.TrimPrefix(path, "/"), o)
	if err != nil {
		t.Fatal(err)
	}
	acked := 0
	insert := func() error {
		return db.Update(t.Context(), func(tx *Tx) error {
			w, err := tx.Table("t")
			if err == nil {
				_, err = w.Insert(nil, "row")
			}
			return err
		})
	}
	for n := 0; n < 6 && err == nil; n++ {
		if err = insert(); err == nil {
			acked++
			fmt.Println("acknowledged")
		}
		if n == 3 && err == nil {
			err = db.Checkpoint(t.Context(), CheckpointTruncate)
		}
	}
	if err != nil {
		fmt.Println("failed:", err)
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("the failure is %v", err)
		}
		for range 2 {
			if err := insert(); !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "open it again") {
				t.Errorf("after the failure: %v, want ErrFailed", err)
			}
		}
		if err := db.Checkpoint(t.Context(), CheckpointPassive); err == nil && name == "wal" {
			t.Error("a checkpoint after the failure")
		}
		rows := 0
		if err := db.View(t.Context(), countRows(&rows)); err != nil || rows < acked {
			t.Errorf("reading after the failure: %d rows, %v; %d were acknowledged", rows, err, acked)
		}
	}
	if err := db.Close(); err != nil {
		fmt.Println("failed: Close:", err)
	}
}
