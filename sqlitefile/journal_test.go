package sqlitefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/journal"
)

const journalSector = journal.Sector

// TestHotJournal finds the journal of a writer that was killed in the middle of writing pages, and
// never reads what it left.
func TestHotJournal(t *testing.T) {
	t.Parallel()
	path := shared(t)
	db, c := open(t, path, &Options{BusyTimeout: -1}), newPeer(t, path)
	c.must("PRAGMA journal_mode = DELETE", "delete")
	c.must(".timeout 10000\nPRAGMA cache_size = 1; BEGIN; UPDATE t SET b = 0; "+counted(500, "INSERT INTO t SELECT i, zeroblob(3000) FROM n"), "")
	if err := db.View(t.Context(), countRows(new(int))); !errors.Is(err, ErrBusy) {
		t.Errorf("while the writer lives: %v, want ErrBusy", err)
	}
	copied := copyDatabase(t, path)
	c.kill()
	for _, p := range []string{path, copied} {
		if _, err := Open(p, &Options{ReadOnly: true}); !errors.Is(err, ErrNeedsRecovery) {
			t.Errorf("Open: %v, want ErrNeedsRecovery", err)
		}
	}
	wantRows(t, open(t, copied, nil), 10)
	wantRows(t, db, 10)
	shell(t, path, "PRAGMA integrity_check")
	view(t, db, func(rx *Rx) error {
		if sum, err := sumRows(rx); err != nil || sum != 1000 {
			t.Errorf("the sum is %d, %v", sum, err)
		}
		return nil
	})
}

// TestUnusualRecords plays back journals that no writer leaves whole, but a loss of power before
// they were synced. What is there afterwards is what SQLite makes of them.
func TestUnusualRecords(t *testing.T) {
	t.Parallel()
	type record struct {
		page, content uint32
		spoiled       bool
	}
	for name, records := range map[string][]record{
		"a page twice":                       {{2, 1, false}, {2, 2, false}, {1, 1, false}},
		"a page beyond the end, spoiled":     {{2, 1, false}, {99, 1, true}, {2, 2, false}},
		"a spoiled record ends the journal":  {{2, 2, false}, {2, 1, true}, {2, 1, false}},
		"page 0 ends the journal":            {{2, 2, false}, {0, 1, false}, {2, 1, false}},
		"the same, though it is spoiled too": {{2, 2, false}, {0, 1, true}, {2, 1, false}},
	} {
		t.Run(name, func(t *testing.T) {
			path := shared(t)
			file := readFile(t, path)
			size := int(binary.BigEndian.Uint16(file[16:]))
			h := format.JournalHeader{Records: 3, Nonce: 7, PageCount: uint32(len(file) / size), SectorSize: journalSector, PageSize: uint32(size)}
			journal := make([]byte, journalSector)
			h.Put(journal)
			for _, record := range records {
				r := format.JournalRecord{Page: record.page, Content: file[int(record.content-1)*size:][:size]}
				r.Checksum = format.JournalChecksum(h.Nonce, r.Content)
				if record.spoiled {
					r.Checksum++
				}
				journal = r.Append(journal)
			}
			writeFile(t, path+"-journal", journal)
			copied := copyDatabase(t, path)
			wantRows(t, open(t, path, nil), 10)
			if got := shell(t, copied, "PRAGMA integrity_check; SELECT count(*) FROM t"); got != "ok\n10" {
				t.Errorf("SQLite finds %q", got)
			}
		})
	}
}

// TestShortJournal finds journals that end before the sector of a header does, for example because
// they were copied in part. The first one holds nothing then: it must not cut off the database. Nor
// does a later one.
func TestShortJournal(t *testing.T) {
	t.Parallel()
	for _, size := range []int{8, 12, 20, 27, 28, 241, 511, journalSector} {
		path := shared(t)
		h := format.JournalHeader{Nonce: 7, PageCount: 1, SectorSize: journalSector, PageSize: 512}
		journal := make([]byte, journalSector)
		h.Put(journal)
		writeFile(t, path+"-journal", journal[:size])
		copied := copyDatabase(t, path)
		before := readFile(t, path)
		db, err := Open(path, nil)
		if size == journalSector {
			if after := readFile(t, path); len(after) != 512 {
				t.Errorf("a whole header: %d bytes, %v", len(after), err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		wantRows(t, db, 10)
		_ = db.Close()
		if after := readFile(t, path); !bytes.Equal(after, before) {
			t.Errorf("%d bytes: the database was changed", size)
		}
		if got := shell(t, copied, "PRAGMA integrity_check; SELECT count(*) FROM t"); got != "ok\n10" {
			t.Errorf("%d bytes: SQLite finds %q", size, got)
		}
	}
}

// TestShortSegment finds a second header whose sector is not whole: the journal ends before it.
func TestShortSegment(t *testing.T) {
	t.Parallel()
	path := shared(t)
	file := readFile(t, path)
	size := int(binary.BigEndian.Uint16(file[16:]))
	h := format.JournalHeader{Records: 1, Nonce: 7, PageCount: uint32(len(file) / size), SectorSize: 4096, PageSize: uint32(size)}
	first, second := make([]byte, 4096), make([]byte, 2048)
	h.Put(first)
	h.Put(second)
	r := format.JournalRecord{Page: 2, Content: file[size : 2*size]}
	r.Checksum = format.JournalChecksum(h.Nonce, r.Content)
	journal := r.Append(first)
	journal = append(journal, make([]byte, format.JournalNextSegment(int64(len(journal)), 4096)-int64(len(journal)))...)
	writeFile(t, path+"-journal", append(journal, second...))
	copied := copyDatabase(t, path)
	wantRows(t, open(t, path, nil), 10)
	if got := shell(t, copied, "PRAGMA integrity_check; SELECT count(*) FROM t"); got != "ok\n10" {
		t.Errorf("SQLite finds %q", got)
	}
	if !bytes.Equal(readFile(t, path), readFile(t, copied)) {
		t.Error("SQLite and the engine restored other files")
	}
}

// TestJournalWithoutPageSize plays back a journal of SQLite before 3.5.8, whose header does not
// tell the page size: it is that of the database.
func TestJournalWithoutPageSize(t *testing.T) {
	t.Parallel()
	path := shared(t)
	file := readFile(t, path)
	size := int(binary.BigEndian.Uint16(file[16:]))
	h := format.JournalHeader{Records: format.JournalAllRecords, Nonce: 7, PageCount: uint32(len(file) / size), SectorSize: journalSector}
	journal := make([]byte, journalSector)
	h.Put(journal)
	r := format.JournalRecord{Page: 2, Content: file[size : 2*size]}
	r.Checksum = format.JournalChecksum(h.Nonce, r.Content)
	writeFile(t, path+"-journal", r.Append(journal))
	damaged := bytes.Clone(file)
	clear(damaged[size : 2*size])
	writeFile(t, path, append(damaged, make([]byte, size)...))
	copied := copyDatabase(t, path)
	wantRows(t, open(t, path, nil), 10)
	if !bytes.Equal(readFile(t, path), file) {
		t.Error("the file is not restored")
	}
	if got := shell(t, copied, "PRAGMA integrity_check; SELECT count(*) FROM t"); got != "ok\n10" {
		t.Errorf("SQLite finds %q", got)
	}
}

// copyDatabase copies a database with its journal, as a backup at a bad moment does.
func copyDatabase(tb testing.TB, path string) string {
	tb.Helper()
	to := filepath.Join(tb.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-journal"} {
		writeFile(tb, to+suffix, readFile(tb, path+suffix))
	}
	return to
}

// TestWriterBeforeCommit reads beside a writer that has changed nothing in the file yet.
func TestWriterBeforeCommit(t *testing.T) {
	t.Parallel()
	path := shared(t)
	db, c := open(t, path, nil), newPeer(t, path)
	c.must("BEGIN; INSERT INTO t VALUES (11, 0)", "")
	if _, err := os.Stat(path + "-journal"); err != nil {
		t.Fatal("the writer has no journal:", err)
	}
	wantRows(t, db, 10)
	wantRows(t, open(t, path, nil), 10)
	c.must(".timeout 10000\nCOMMIT", "")
	wantRows(t, db, 11)
}

// TestColdJournals are those that say nothing: of a mode that keeps the file, or empty.
func TestColdJournals(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"persist", "truncate"} {
		path := shared(t)
		db, c := open(t, path, nil), newPeer(t, path)
		c.must("PRAGMA journal_mode = "+mode, mode)
		c.must(".timeout 10000\nINSERT INTO t VALUES (11, 0)", "")
		if _, err := os.Stat(path + "-journal"); err != nil {
			t.Fatalf("%s: no journal: %v", mode, err)
		}
		wantRows(t, db, 11)
		wantRows(t, open(t, path, nil), 11)
	}
}

// TestRollbacks opens the database while another process starts transactions and rolls them back:
// its journal comes and goes, and is never hot.
func TestRollbacks(t *testing.T) {
	t.Parallel()
	path := shared(t)
	c := newPeer(t, path)
	sql := ""
	for range 500 {
		sql += "BEGIN IMMEDIATE; INSERT INTO t VALUES (0, 0); ROLLBACK;\n"
	}
	mark, n := c.send(sql), 0
	done := make(chan string, 1)
	go func() { done <- c.wait(mark) }()
	db := open(t, path, nil)
	for ; len(done) == 0; n++ {
		if hot, err := db.pager.Probe().Hot(); err != nil || hot {
			t.Fatal("hot:", hot, err)
		}
		if n%100 == 0 {
			wantRows(t, open(t, path, nil), 10)
		}
	}
	if got := <-done; got != "" {
		t.Error(got)
	}
	t.Logf("looked %d times", n)
}

// TestWAL meets a log in every state: rows that are older than what is in it are never read.
func TestWAL(t *testing.T) {
	t.Parallel()
	path := shared(t)
	db, c := open(t, path, nil), newPeer(t, path)
	c.must(".timeout 10000\nPRAGMA journal_mode = WAL", "wal")
	c.must("INSERT INTO t VALUES (11, 0)", "")
	wantRows(t, db, 11)
	wantRows(t, open(t, path, nil), 11)
	err := db.View(context.Background(), func(rx *Rx) error {
		var before, after int
		if err := countRows(&before)(rx); err != nil {
			return err
		}
		c.must(".timeout 10000\nINSERT INTO t VALUES (12, 0)", "")
		if err := countRows(&after)(rx); err != nil || before != 11 || after != 11 {
			t.Errorf("%d rows, then %d, %v; want 11 all the time", before, after, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	wantRows(t, db, 12)
	c.quit()
	wantRows(t, db, 12)
	view(t, db, func(rx *Rx) error {
		if !rx.Info().WAL {
			t.Error("the database is not in WAL mode")
		}
		return nil
	})
}

// TestSymlink finds the journal beside the file that a link leads to.
func TestSymlink(t *testing.T) {
	t.Parallel()
	path := shared(t)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	wantRows(t, open(t, link, nil), 10)
	writeFile(t, path+"-journal", []byte("\xd9\xd5\x05\xf9 and so on"))
	if _, err := Open(link, &Options{ReadOnly: true}); !errors.Is(err, ErrNeedsRecovery) {
		t.Errorf("%v, want ErrNeedsRecovery", err)
	}
}

// TestWALBetweenViews changes a row in WAL mode, where a commit leaves the header alone, and closes
// the log again.
func TestWALBetweenViews(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		path := shared(t)
		c := newPeer(t, path)
		c.must(".timeout 10000\nPRAGMA journal_mode = WAL", "wal")
		c.quit()
		db := open(t, path, &Options{NoMmap: plain})
		for _, want := range []int64{1000, 0} {
			view(t, db, func(rx *Rx) error {
				sum, err := sumRows(rx)
				if sum != want {
					t.Errorf("plain %v: the sum is %d, want %d", plain, sum, want)
				}
				return err
			})
			eventually(t, "the lease ends", func() bool { return !db.pager.Probe().HoldsShared() })
			shell(t, path, "UPDATE t SET b = 0")
		}
	}
}
