package sqlitefile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// readOnlyStates are the states that a database can be left in, with what is next to it, and how
// many rows it has then.
var readOnlyStates = []struct {
	name  string
	wal   bool
	sides func(path string, log, index []byte) map[string][]byte
	rows  int
	err   error
}{
	{name: "rollback", rows: 5},
	{name: "cold", rows: 5, sides: func(string, []byte, []byte) map[string][]byte {
		return map[string][]byte{"-journal": make([]byte, format.JournalHeaderSize)}
	}},
	{name: "hot", err: ErrNeedsRecovery, sides: func(path string, _, _ []byte) map[string][]byte {
		return map[string][]byte{"-journal": hotJournal(path)}
	}},
	{name: "closed", wal: true, rows: 5},
	{name: "log", wal: true, rows: 8, sides: func(_ string, log, _ []byte) map[string][]byte {
		return map[string][]byte{"-wal": log}
	}},
	{name: "log-and-index", wal: true, rows: 8, sides: func(_ string, log, index []byte) map[string][]byte {
		return map[string][]byte{"-wal": log, "-shm": index}
	}},
	{name: "log-cut", wal: true, rows: 7, sides: func(_ string, log, _ []byte) map[string][]byte {
		return map[string][]byte{"-wal": log[:len(log)-100]}
	}},
	{name: "log-cut-and-index", wal: true, rows: 7, sides: func(_ string, log, index []byte) map[string][]byte {
		return map[string][]byte{"-wal": log[:len(log)-100], "-shm": index}
	}},
	{name: "log-empty", wal: true, rows: 5, sides: func(string, []byte, []byte) map[string][]byte {
		return map[string][]byte{"-wal": {}}
	}},
	{name: "log-empty-and-index", wal: true, rows: 5, sides: func(_ string, _, index []byte) map[string][]byte {
		return map[string][]byte{"-wal": {}, "-shm": index}
	}},
	{name: "log-header", wal: true, rows: 5, sides: func(_ string, log, _ []byte) map[string][]byte {
		return map[string][]byte{"-wal": log[:format.WALHeaderSize]}
	}},
	{name: "index", wal: true, rows: 5, sides: func(_ string, _, index []byte) map[string][]byte {
		return map[string][]byte{"-shm": index}
	}},
	{name: "index-short", wal: true, rows: 8, sides: func(_ string, log, index []byte) map[string][]byte {
		return map[string][]byte{"-wal": log, "-shm": index[:3]}
	}},
	{name: "index-garbage", wal: true, rows: 8, sides: func(_ string, log, index []byte) map[string][]byte {
		return map[string][]byte{"-wal": log, "-shm": []byte(strings.Repeat("garbage!", len(index)/8))}
	}},
}

// hotJournal returns a journal that puts page 1 back as it is.
func hotJournal(path string) []byte {
	file, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	size := 512
	h := format.JournalHeader{Records: 1, Nonce: 7, PageCount: uint32(len(file) / size), SectorSize: 512, PageSize: uint32(size)}
	journal := make([]byte, 512)
	h.Put(journal)
	r := format.JournalRecord{Page: 1, Content: file[:size], Checksum: format.JournalChecksum(h.Nonce, file[:size])}
	return r.Append(journal)
}

// makeReadOnlyStates makes a database in each of the states, under its name.
func makeReadOnlyStates(t *testing.T, dir string) {
	t.Helper()
	for _, state := range readOnlyStates {
		path := filepath.Join(dir, state.name+".db")
		mode := JournalDelete
		if state.wal {
			mode = JournalWAL
		}
		made := filepath.Join(t.TempDir(), "made.db")
		db, err := Open(made, &Options{Create: true, PageSize: 512, JournalMode: mode})
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(db.Exec(t.Context(), "CREATE TABLE t (a INTEGER PRIMARY KEY, b)"), addRows(db, 5), db.Close())
		if db, e := Open(made, nil); errors.Join(err, e) == nil {
			file := readFile(t, made)
			var log, index []byte
			if state.wal {
				err = addRows(db, 3)
				log, index = readFile(t, made+"-wal"), readFile(t, made+"-shm")
				h, pageSize, e := db.pager.Probe().LogState()
				log, err = log[:format.FrameOffset(h.MaxFrame+1, pageSize)], errors.Join(err, e)
			}
			writeFile(t, path, file)
			if state.sides != nil {
				for suffix, content := range state.sides(path, log, index) {
					writeFile(t, path+suffix, content)
				}
			}
			err = errors.Join(err, db.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// addRows commits n transactions of a row each.
func addRows(db *DB, n int) (err error) {
	for range n {
		err = errors.Join(err, insertRow(db))
	}
	return err
}

func insertRow(db *DB) error {
	return db.Update(context.Background(), func(tx *Tx) error {
		t, err := tx.Table("t")
		if err == nil {
			_, err = t.Insert(nil, make([]byte, 100))
		}
		return err
	})
}

// A readOnlyPlace makes dir a place where not everything can be written.
type readOnlyPlace struct {
	name   string
	nobody bool // the process has no right to write; else there is none
	make   func(t *testing.T, dir string) (place string)
}

var readOnlyPlaces = []readOnlyPlace{
	{"squashfs", false, squashed},
	{"bind mount", false, func(t *testing.T, dir string) string {
		return mounted(t, dir, syscall.MS_BIND, syscall.MS_BIND)
	}},
	{"tmpfs", false, func(t *testing.T, dir string) string {
		place := t.TempDir()
		mount(t, "tmpfs", place, "tmpfs", 0)
		if err := os.CopyFS(filepath.Join(place, "x"), os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		mount(t, "", place, "", syscall.MS_REMOUNT|syscall.MS_RDONLY)
		return filepath.Join(place, "x")
	}},
	{"a file without the right", true, func(t *testing.T, dir string) string { return withRights(t, dir, 0o444, 0o777) }},
	{"a directory without the right", true, func(t *testing.T, dir string) string { return withRights(t, dir, 0o666, 0o555) }},
	{"both without the right", true, func(t *testing.T, dir string) string { return withRights(t, dir, 0o444, 0o555) }},
}

// mount mounts something until the test ends, or skips the test.
func mount(t *testing.T, source, target, kind string, flags uintptr) {
	t.Helper()
	if err := syscall.Mount(source, target, kind, flags, ""); err != nil {
		t.Skipf("a read-only place: mount: %v", err)
	}
	if flags&syscall.MS_REMOUNT == 0 {
		t.Cleanup(func() {
			if err := syscall.Unmount(target, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
	}
}

func mounted(t *testing.T, dir string, flags, again uintptr) string {
	place := t.TempDir()
	mount(t, dir, place, "", flags)
	mount(t, "", place, "", again|syscall.MS_REMOUNT|syscall.MS_RDONLY)
	return place
}

func squashed(t *testing.T, dir string) string {
	image, place := filepath.Join(t.TempDir(), "image"), t.TempDir()
	if out, err := exec.Command("mksquashfs", dir, image, "-quiet", "-no-progress").CombinedOutput(); err != nil {
		t.Skipf("a read-only place: mksquashfs: %v %s", err, out)
	}
	if out, err := exec.Command("mount", "-o", "loop,ro", image, place).CombinedOutput(); err != nil {
		t.Skipf("a read-only place: mount: %v %s", err, out)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(place, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return place
}

// withRights sets the permissions of databases and their directory. What is next to a database can
// only be read.
func withRights(t *testing.T, dir string, file, directory fs.FileMode) string {
	place, err := os.MkdirTemp("", "folio")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(place, 0o700); _ = os.RemoveAll(place) })
	if err := os.CopyFS(place, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for name := range fingerprints(t, place) {
		perm := fs.FileMode(0o444)
		if strings.HasSuffix(name, ".db") {
			perm = file
		}
		if err := os.Chmod(filepath.Join(place, name), perm); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(place, directory); err != nil {
		t.Fatal(err)
	}
	return place
}

// fingerprints returns the files in a directory, with their contents.
func fingerprints(t *testing.T, dir string) map[string][sha256.Size]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][sha256.Size]byte)
	for _, e := range entries {
		files[e.Name()] = sha256.Sum256(readFile(t, filepath.Join(dir, e.Name())))
	}
	return files
}

// TestReadOnlyPlaces reads databases in each state, in each place where they cannot be written,
// with each option, by each way to read. Nothing may change, and no file may appear.
func TestReadOnlyPlaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makeReadOnlyStates(t, dir)
	for _, place := range readOnlyPlaces {
		t.Run(place.name, func(t *testing.T) {
			t.Parallel()
			if os.Getuid() != 0 && !place.nobody {
				t.Skip("a read-only place: only root can mount one")
			}
			dir := place.make(t, dir)
			before := fingerprints(t, dir)
			if place.nobody {
				if out := asNobody(t, "TestReadOnlyPlaceProcess", dir); !strings.Contains(out, "all was read") || strings.Contains(out, "FAIL") {
					t.Error(out)
				}
			} else {
				readPlace(t, dir)
			}
			if after := fingerprints(t, dir); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Error("a file has changed")
			}
		})
	}
}

// TestReadOnlyPlaceProcess is not a test, but a process of TestReadOnlyPlaces.
func TestReadOnlyPlaceProcess(t *testing.T) {
	dir := os.Getenv(readOnlyEnv)
	if dir == "" {
		t.Skip("only a process of TestReadOnlyPlaces")
	}
	readPlace(t, dir)
	fmt.Println("all was read")
}

// readPlace reads all databases in a place.
func readPlace(t *testing.T, dir string) {
	for _, state := range readOnlyStates {
		for _, o := range []Options{{}, {NoMmap: true}, {ReadOnly: true}, {Immutable: true}} {
			what := fmt.Sprintf("%s, plain %v, read only %v, immutable %v", state.name, o.NoMmap, o.ReadOnly, o.Immutable)
			db, err := Open(filepath.Join(dir, state.name+".db"), &o)
			if err == nil {
				err = errors.Join(readEveryWay(db, state.rows), refuseEveryWay(db), db.Close())
			}
			if !errors.Is(err, state.err) || err != nil && strings.Count(err.Error(), dir) != 1 {
				t.Errorf("%s: %v, want %v", what, err, state.err)
			}
		}
	}
}

// readEveryWay reads a database of so many rows by all that reads.
func readEveryWay(db *DB, rows int) error {
	var errs []error
	fail := func(what string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		}
	}
	wantRows := func(what string, err error, got int) {
		if err == nil && got != rows {
			err = fmt.Errorf("%d rows, want %d", got, rows)
		}
		fail(what, err)
	}
	for range 2 {
		n := 0
		err := db.View(context.Background(), countRows(&n))
		wantRows("View", err, n)
		rx, err := db.BeginView(context.Background())
		if fail("Begin", err); err == nil {
			wantRows("Rx", countRows(&n)(rx), n)
			if _, ok := db.Version(); !ok {
				fail("Version", errors.New("not known"))
			}
			rx.End()
		}
		db.pager.Probe().RetireLease() // the next view begins with a new lock
	}
	report, err := db.Check(context.Background(), nil)
	if err == nil && !report.OK() {
		err = fmt.Errorf("%v", report)
	}
	fail("Check", err)
	fail("Backup", db.Backup(context.Background(), io.Discard))
	_, err = db.JournalMode(context.Background())
	fail("JournalMode", err)
	fail("Sync", db.Sync(context.Background()))
	fail("pin", db.pager.Pin(7))
	_, err = db.pager.Pinned(7)
	fail("pinned", err)
	fail("unpin", db.pager.Unpin(7))
	if db.Stats().Pages == 0 {
		fail("Stats", errors.New("no pages"))
	}
	return errors.Join(errs...)
}

// refuseEveryWay tries all that writes.
func refuseEveryWay(db *DB) error {
	mode, err := db.JournalMode(context.Background())
	if err != nil {
		return err
	}
	other := JournalWAL
	if mode == JournalWAL {
		other = JournalDelete
		if err := db.Checkpoint(context.Background(), CheckpointPassive); !errors.Is(err, ErrReadOnly) {
			return fmt.Errorf("Checkpoint: %w", err)
		}
	}
	for what, err := range map[string]error{
		"Update":         insertRow(db),
		"Exec":           db.Exec(context.Background(), "CREATE TABLE u (a)"),
		"SetJournalMode": db.SetJournalMode(context.Background(), other),
		"Compact":        db.Compact(context.Background(), nil),
	} {
		if !errors.Is(err, ErrReadOnly) && !osfile.Unwritable(err) {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}
