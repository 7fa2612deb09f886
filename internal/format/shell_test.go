package format

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// These tests make databases by the sqlite3 shell, decode them, and compare with the output of the
// shell.

// shell runs statements on a database, in its directory.
func shell(t *testing.T, db, sql string) string {
	t.Helper()
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("comparison with SQLite: there is no sqlite3 shell")
	}
	var stderr strings.Builder
	cmd := exec.Command("sqlite3", "-batch", "-bail", filepath.Base(db))
	cmd.Dir, cmd.Stdin, cmd.Stderr = filepath.Dir(db), strings.NewReader(sql), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("sqlite3: %v: %s", err, stderr.String())
	}
	return string(out)
}

// TestShellDatabases reads databases of every page size, encoding and vacuum mode: each page must
// have its one role, and each row must be equal to that of the shell.
func TestShellDatabases(t *testing.T) {
	t.Parallel()
	encodings := []string{"UTF-8", "UTF-16le", "UTF-16be"}
	for i := range 24 {
		pageSize, vacuum, encoding, reserved := MinPageSize<<(i%8), i%3, encodings[i/8], []int{0, 8, 32, 5}[i%4]
		t.Run(fmt.Sprintf("%d-%d-%s-%d", pageSize, vacuum, encoding, reserved), func(t *testing.T) {
			t.Parallel()
			db := filepath.Join(t.TempDir(), "a.db")
			shell(t, db, fmt.Sprintf("PRAGMA page_size=%d; PRAGMA auto_vacuum=%d; PRAGMA encoding='%s';\n.filectrl reserve_bytes %d\n",
				pageSize, vacuum, encoding, reserved)+fillSQL)
			compareRows(t, db)
		})
	}
}

// fillSQL makes tables with rows of all kinds and sizes, and holes where rows were.
const fillSQL = `
PRAGMA user_version=-7; PRAGMA application_id=77;
VACUUM;
CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c, d);
CREATE INDEX ta ON t(a);
CREATE INDEX tb ON t(b, d);
CREATE TABLE w(k PRIMARY KEY, v) WITHOUT ROWID;
CREATE TABLE gone(x);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<400)
	INSERT INTO t SELECT i*i*i, i<<(i%60), printf('text %d é', i), zeroblob(i*i%7000), i*0.25 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<300)
	INSERT INTO w SELECT CAST(printf('%.*c', i*3, char(97+i%26)) AS BLOB), -i*i*i*i*i*i FROM n;
INSERT INTO gone SELECT c FROM t;
INSERT INTO t VALUES(-9223372036854775808, NULL, '', x'', -0.5), (9223372036854775807, 0, 1, -1, 1e300);
DELETE FROM t WHERE id%7=0;
DROP TABLE gone;
`

func compareRows(t *testing.T, db string) {
	b, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	d := openDatabase(&listing{t: t, b: b})
	for pgno := range d.h.PageCount {
		if _, ok := d.roles[pgno+1]; !ok && pgno+1 != d.h.LockPage() {
			t.Errorf("nothing points to page %d", pgno+1)
		}
	}
	header := fmt.Sprintf("%d\n%d\n%d\n%d\n%d\n", d.h.PageSize, d.h.PageCount, d.h.FreelistCount, d.h.UserVersion, d.h.ApplicationID)
	pragmas := "PRAGMA page_size; PRAGMA page_count; PRAGMA freelist_count; PRAGMA user_version; PRAGMA application_id;"
	if want := shell(t, db, pragmas); header != want {
		t.Errorf("header:\n%swant:\n%s", header, want)
	}
	for _, r := range d.rows(1) {
		kind, name := d.text(r.values[0]), d.text(r.values[1])
		rows := d.rows(uint32(r.values[3].(int64)))
		switch {
		case kind == "index":
			if want := shell(t, db, "SELECT count(*) FROM t"); fmt.Sprintln(len(rows)) != want {
				t.Errorf("%d entries in index %s, want %s", len(rows), name, want)
			}
		case name == "w":
			compareText(t, name, d.dump(rows, false), shell(t, db, "SELECT "+quoted("k")+","+quoted("v")+" FROM w ORDER BY k"))
		default:
			columns := "id,typeof(NULL)," + quoted("a") + "," + quoted("b") + "," + quoted("c") + "," + quoted("d")
			compareText(t, name, d.dump(rows, true), shell(t, db, "SELECT "+columns+" FROM t ORDER BY id"))
		}
	}
}

// quoted is an expression for a column's type and its value, text and blobs as the bytes in the
// file.
func quoted(column string) string {
	return strings.ReplaceAll("typeof(@) || iif(typeof(@) IN ('text', 'blob'), hex(CAST(@ AS BLOB)), ifnull(@, ''))", "@", column)
}

// dump writes rows as the shell writes the list of quoted.
func (d *database) dump(rows []row, rowid bool) string {
	var b strings.Builder
	for _, r := range rows {
		sep := ""
		if rowid {
			fmt.Fprint(&b, r.rowid)
			sep = "|"
		}
		for i, v := range r.values {
			b.WriteString(sep)
			sep = "|"
			switch v := v.(type) {
			case nil:
				b.WriteString("null")
			case int64:
				fmt.Fprintf(&b, "integer%d", v)
			case float64:
				fmt.Fprintf(&b, "real%s", describeReal(v))
			case string:
				fmt.Fprintf(&b, "text%X", v)
			case []byte:
				fmt.Fprintf(&b, "blob%X", v)
			default:
				d.t.Fatalf("value %d: %T", i, v)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func describeReal(v float64) string {
	if v >= 1e15 {
		return strconv.FormatFloat(v, 'e', 1, 64)
	}
	return describe(v)
}

// text decodes text of the database's encoding that holds only ASCII.
func (d *database) text(v value) string {
	s := v.(string)
	if d.h.Encoding != UTF8 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	return s
}

func compareText(t *testing.T, what, got, want string) {
	t.Helper()
	if line, differ := firstDifference([]byte(got), []byte(want)); differ {
		t.Errorf("%s, row %d:\n got %.200s\nwant %.200s", what, line, lineOf([]byte(got), line), lineOf([]byte(want), line))
	}
}

// TestShellLog reads a log of three blocks of frames and its index: each frame must be valid, and
// the index must lead to the last frame of each page.
func TestShellLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shell(t, filepath.Join(dir, "a.db"), `PRAGMA page_size=512; PRAGMA journal_mode=wal; PRAGMA synchronous=off; PRAGMA wal_autocheckpoint=0;
		CREATE TABLE t(x);
		INSERT INTO t VALUES(zeroblob(2100000));
		INSERT INTO t VALUES(zeroblob(2100000));
		DELETE FROM t WHERE rowid=1;
		INSERT INTO t VALUES(zeroblob(300000));
`+".shell cp a.db-wal wal; cp a.db-shm shm\n")
	log, last := readLog(t, filepath.Join(dir, "wal"))
	b, err := os.ReadFile(filepath.Join(dir, "shm"))
	if err != nil {
		t.Fatal(err)
	}
	// Under an emulator, the shell's machine is another than this one.
	bigEndian := binary.BigEndian.Uint32(b) == WALIndexVersion
	w := walIndexWords(b, bigEndian)
	h, ok := parseWALIndexHeader((*WALIndexWords)(w), bigEndian)
	if !ok || int(h.MaxFrame) != len(log)-1 || h.Frame != last {
		t.Fatalf("%+v, %t; the log has %d frames, the last one's checksum is %08x", h, ok, len(log)-1, last)
	}
	if WALIndexBlock(h.MaxFrame) < 2 {
		t.Fatalf("only %d frames", h.MaxFrame)
	}
	newest := map[uint32]uint32{}
	for frame, pgno := range log[1:] {
		frame++
		at := WALIndexBlock(uint32(frame))*WALIndexBlockWords + WALIndexPageWord(uint32(frame))
		if w[at] != pgno {
			t.Fatalf("frame %d: page %d in the index, %d in the log", frame, w[at], pgno)
		}
		newest[pgno] = uint32(frame)
	}
	for pgno, frame := range newest {
		if got := lookup(w, pgno, h.MaxFrame, bigEndian); got != frame {
			t.Fatalf("page %d: frame %d by the index, %d by the log", pgno, got, frame)
		}
	}
	if got := lookup(w, h.PageCount+1000, h.MaxFrame, bigEndian); got != 0 {
		t.Errorf("a page that is not in the log: frame %d", got)
	}
}

// readLog returns the page of each frame, from 1, up to the last that ends a transaction, and its
// checksum.
func readLog(t *testing.T, name string) (pages []uint32, last Checksum) {
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	h, ok := ParseWALHeader(b)
	if !ok || h.Version != WALVersion {
		t.Fatalf("%+v, %t", h, ok)
	}
	pages = []uint32{0}
	sum, committed := h.Checksum, 1
	for at := FrameOffset(1, h.PageSize); at < int64(len(b)); at = FrameOffset(uint32(len(pages)), h.PageSize) {
		f, _ := ParseFrameHeader(b[at:])
		if !f.Follows(&h, sum, b[at+FrameHeaderSize:][:h.PageSize]) {
			break
		}
		sum = f.Checksum
		pages = append(pages, f.Page)
		if f.Commit != 0 {
			committed, last = len(pages), sum
		}
	}
	return pages[:committed], last
}

// lookup finds the last frame of a page, as far as maxFrame, the way a reader does.
func lookup(w []uint32, pgno, maxFrame uint32, bigEndian bool) (frame uint32) {
	for block := WALIndexBlock(maxFrame); block >= 0 && frame == 0; block-- {
		words := w[block*WALIndexBlockWords:][:WALIndexBlockWords]
		for slot := WALIndexHash(pgno); ; slot = NextWALIndexSlot(slot) {
			v := uint16(words[WALIndexSlotWord(slot)] >> slotShift(slot, bigEndian))
			if v == 0 {
				break
			}
			f := WALIndexFirst(block) + uint32(v) - 1
			if f <= maxFrame && words[WALIndexPageWord(f)] == pgno {
				frame = max(frame, f)
			}
		}
	}
	return frame
}

// TestShellJournal copies the journal of a transaction that has grown past the cache, and plays it
// back.
func TestShellJournal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shell(t, filepath.Join(dir, "a.db"), `PRAGMA page_size=1024; CREATE TABLE t(x);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<300) INSERT INTO t SELECT printf('%.500c', char(65+i%50)) FROM n;
		PRAGMA cache_size=20;
`+".shell cp a.db before\n"+`
		BEGIN; UPDATE t SET x=upper(x)||x; INSERT INTO t SELECT x FROM t;
`+".shell cp a.db during; cp a.db-journal journal\n")
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	before, during := read("before"), read("during")
	if bytes.Equal(before, during) {
		t.Fatal("nothing was written yet")
	}
	if !bytes.Equal(playBack(t, read("journal"), during), before) {
		t.Error("played back, the database is not what it was")
	}
}

// playBack undoes a transaction.
func playBack(t *testing.T, journal, db []byte) []byte {
	first, ok := ParseJournalHeader(journal)
	if !ok || !first.ValidSizes() {
		t.Fatalf("%+v, %t", first, ok)
	}
	size := int(first.PageSize)
	db = append(db, make([]byte, max(0, int(first.PageCount)*size-len(db)))...)[:int(first.PageCount)*size]
	segments := 0
	for at := int64(0); at < int64(len(journal)); at = JournalNextSegment(at, first.SectorSize) {
		h, ok := ParseJournalHeader(journal[at:])
		if !ok {
			break
		}
		segments++
		at += int64(first.SectorSize)
		for range h.Records {
			n := JournalRecordSize(size)
			r, ok := ParseJournalRecord(journal[at:][:n])
			if !ok || !r.Valid(h.Nonce) {
				t.Fatalf("segment %d: no record at %d", segments, at)
			}
			if r.Page <= first.PageCount {
				copy(db[int(r.Page-1)*size:], r.Content)
			}
			at += int64(n)
		}
	}
	if segments < 2 {
		t.Errorf("%d segments", segments)
	}
	return db
}
