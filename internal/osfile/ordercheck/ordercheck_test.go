package ordercheck_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/crashfs"
	"github.com/foliofs/folio/internal/osfile/ordercheck"
)

const pageSize = 512

// A stage is a database of three pages, its journal and its log, under a write-order checker.
type stage struct {
	t        *testing.T
	disk     *crashfs.FS
	sys      osfile.System
	breaches []string
	files    map[string]osfile.Handle
	sum      format.Checksum
	header   format.WALHeader
}

func newStage(t *testing.T, lazy bool) *stage {
	t.Helper()
	fs := crashfs.New(crashfs.WithFreeSpace(1 << 20))
	if err := fs.WriteFile("/db", append(append(page(1), page(2)...), page(3)...)); err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, disk: fs, files: make(map[string]osfile.Handle)}
	s.sys = ordercheck.New(fs, lazy, func(err error) { s.breaches = append(s.breaches, err.Error()) })
	s.open("db")
	return s
}

// page returns a page whose last byte is v; the one with 1 has the header of a database.
func page(v byte) []byte {
	b := make([]byte, pageSize)
	if v == 1 {
		(&format.Header{PageSize: pageSize, WriteVersion: 1, ReadVersion: 1, ChangeCounter: 1, VersionValidFor: 1, PageCount: 3}).Put(b)
	}
	b[pageSize-1] = v
	return b
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) open(name string) {
	s.t.Helper()
	h, err := s.sys.Open("/"+name, osfile.ReadWrite|osfile.Create, 0o666)
	s.must(err)
	s.files[name] = h
}

func (s *stage) write(name string, off int64, b []byte) {
	s.t.Helper()
	_, err := s.files[name].WriteAt(b, off)
	s.must(err)
}

func (s *stage) sync(name string) { s.must(s.files[name].Sync()) }

func (s *stage) writePage(pgno int64, v byte) {
	s.t.Helper()
	s.write("db", (pgno-1)*pageSize, page(v))
}

// save makes a journal with the images of some pages, unsynced.
func (s *stage) save(pgnos ...uint32) {
	s.t.Helper()
	s.open("db-journal")
	header := make([]byte, 512)
	h := format.JournalHeader{Records: uint32(len(pgnos)), Nonce: 7, PageCount: 3, SectorSize: 512, PageSize: pageSize}
	h.Put(header)
	for _, pgno := range pgnos {
		content := page(byte(pgno))
		header = (&format.JournalRecord{Page: pgno, Content: content, Checksum: format.JournalChecksum(7, content)}).Append(header)
	}
	s.write("db-journal", 0, header)
}

// begin begins a log.
func (s *stage) begin(salt uint32) {
	s.t.Helper()
	if s.files["db-wal"] == nil {
		s.open("db-wal")
	}
	s.header = format.WALHeader{Version: format.WALVersion, PageSize: pageSize, Salt: [2]uint32{salt, salt}}
	b := make([]byte, format.WALHeaderSize)
	s.header.Put(b)
	s.sum = s.header.Checksum
	s.write("db-wal", 0, b)
}

// frame writes a frame that ends a transaction.
func (s *stage) frame(n, pgno uint32, v byte) {
	s.t.Helper()
	f := format.FrameHeader{Page: pgno, Commit: 3}
	f.Seal(&s.header, s.sum, page(v))
	s.sum = f.Checksum
	b := make([]byte, format.FrameHeaderSize, format.FrameHeaderSize+pageSize)
	f.Put(b)
	s.write("db-wal", format.FrameOffset(n, pageSize), append(b, page(v)...))
}

// draft makes a file that is to take the place of the database, out of order, unsynced.
func (s *stage) draft() {
	s.t.Helper()
	s.open("db-compact")
	s.write("db-compact", 0, page(1))
	s.write("db-compact", 2*pageSize, page(3))
	s.write("db-compact", pageSize, page(2))
}

func (s *stage) exchange() { s.must(s.sys.Rename("/db-compact", "/db")) }

func TestRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		lazy bool
		do   func(s *stage)
		want string // the rule that is broken; none if empty
	}{
		{"a rollback commit", false, func(s *stage) {
			s.save(2)
			s.sync("db-journal")
			s.must(s.sys.SyncDir("/db"))
			s.writePage(2, 20)
			s.writePage(4, 40) // a new one
			s.sync("db")
			s.must(s.sys.Remove("/db-journal"))
		}, ""},
		{"a rollback commit without syncs", true, func(s *stage) {
			s.save(2)
			s.writePage(2, 20)
			s.must(s.files["db-journal"].Truncate(0))
		}, ""},
		{"a new database", false, func(s *stage) {
			s.open("new")
			s.write("new", 0, page(1))
			s.write("new", 0, page(1))
		}, ""},
		{"half a page", false, func(s *stage) { s.write("db", 512, page(2)[:100]) }, "R1"},
		{"no journal", false, func(s *stage) { s.writePage(2, 20) }, "R2"},
		{"an unsynced journal", false, func(s *stage) { s.save(2); s.must(s.sys.SyncDir("/db")); s.writePage(2, 20) }, "R2"},
		{"a journal without a name", false, func(s *stage) { s.save(2); s.sync("db-journal"); s.writePage(2, 20) }, "R2"},
		{"a page that is not saved", false, func(s *stage) {
			s.save(2)
			s.sync("db-journal")
			s.must(s.sys.SyncDir("/db"))
			s.writePage(3, 30)
		}, "R2"},
		{"a page cut off", false, func(s *stage) {
			s.save(2)
			s.sync("db-journal")
			s.must(s.sys.SyncDir("/db"))
			s.must(s.files["db"].Truncate(2 * pageSize))
		}, "R2"},
		{"a journal removed too early", false, func(s *stage) {
			s.save(2)
			s.sync("db-journal")
			s.must(s.sys.SyncDir("/db"))
			s.writePage(2, 20)
			s.must(s.sys.Remove("/db-journal"))
		}, "R3"},
		{"a journal zeroed too early", false, func(s *stage) {
			s.save(2)
			s.sync("db-journal")
			s.must(s.sys.SyncDir("/db"))
			s.writePage(2, 20)
			s.write("db-journal", 0, make([]byte, 28))
		}, "R3"},
		{"a journal that nobody needs", false, func(s *stage) { s.save(2); s.must(s.sys.Remove("/db-journal")) }, ""},

		{"a checkpoint", false, func(s *stage) { checkpoint(s); s.begin(2); s.sync("db-wal"); s.frame(1, 3, 31) }, ""},
		{"a checkpoint without syncs", true, func(s *stage) {
			s.begin(1)
			s.frame(1, 2, 20)
			s.writePage(2, 20)
			s.begin(2)
		}, ""},
		{"another page than the log's", false, func(s *stage) { logged(s); s.writePage(2, 21) }, "R4"},
		{"a frame that is not synced", false, func(s *stage) { logged(s); s.frame(2, 2, 21); s.writePage(2, 21) }, "R4"},
		{"a log without a name", false, func(s *stage) {
			s.begin(1)
			s.sync("db-wal")
			s.frame(1, 2, 20)
			s.sync("db-wal")
			s.writePage(2, 20)
		}, "R4"},
		{"cut to another size", false, func(s *stage) { logged(s); s.must(s.files["db"].Truncate(pageSize)) }, "R4"},
		{"space given back that the log has the pages for", false, func(s *stage) {
			logged(s)
			s.frame(2, 3, 30)
			s.sync("db-wal")
			s.must(s.files["db"].Truncate(2 * pageSize))
		}, ""},
		{"begun anew before it is copied", false, func(s *stage) { logged(s); s.begin(2) }, "R5"},
		{"removed before it is copied", false, func(s *stage) { logged(s); s.must(s.sys.Remove("/db-wal")) }, "R5"},
		{"cut off before the database is synced", false, func(s *stage) {
			logged(s)
			s.writePage(2, 20)
			s.must(s.files["db-wal"].Truncate(0))
		}, "R5"},
		{"a committed frame overwritten", false, func(s *stage) { logged(s); s.frame(1, 2, 21) }, "R6"},
		{"a frame before the header", false, func(s *stage) { s.begin(1); s.frame(1, 2, 20) }, "R6"},

		{"a free page punched", false, func(s *stage) { freed(s); s.punch(3) }, ""},
		{"a page in use punched", false, func(s *stage) { freed(s); s.punch(2) }, "R8"},
		{"half a page punched", false, func(s *stage) {
			freed(s)
			s.must(s.files["db"].(puncher).Punch(2*pageSize, pageSize/2))
		}, "R8"},
		{"punched while the journal has its image", false, func(s *stage) {
			freed(s)
			s.save(2)
			s.sync("db-journal")
			s.must(s.sys.SyncDir("/db"))
			s.punch(3)
		}, "R8"},
		{"punched while the journal may come back", false, func(s *stage) {
			freed(s)
			s.save(2)
			s.must(s.sys.Remove("/db-journal"))
			s.punch(3)
		}, "R8"},
		{"punched while the log has frames", false, func(s *stage) { freed(s); logged(s); s.punch(3) }, "R8"},
		{"punched before it is synced", true, func(s *stage) { freed(s); s.punch(3) }, ""},

		{"another file", false, func(s *stage) {
			s.draft()
			s.sync("db-compact")
			s.exchange()
			s.must(s.sys.SyncDir("/db"))
			s.must(s.files["db"].Truncate(pageSize))
		}, ""},
		{"another file without syncs", true, func(s *stage) { s.draft(); s.exchange(); s.must(s.files["db"].Truncate(pageSize)) }, ""},
		{"a file that is not synced", false, func(s *stage) { s.draft(); s.exchange() }, "R7"},
		{"another file over a journal", false, func(s *stage) { s.draft(); s.sync("db-compact"); s.save(2); s.exchange() }, "R7"},
		{"another file over a journal that may come back", false, func(s *stage) {
			s.draft()
			s.sync("db-compact")
			s.save(2)
			s.must(s.sys.Remove("/db-journal"))
			s.exchange()
		}, "R7"},
		{"the old file cut off too early", false, func(s *stage) {
			s.draft()
			s.sync("db-compact")
			s.exchange()
			s.must(s.files["db"].Truncate(pageSize))
		}, "R7"},
		{"the new file written to too early", false, func(s *stage) {
			s.draft()
			s.sync("db-compact")
			s.exchange()
			s.write("db-compact", 3*pageSize, page(4))
		}, "R7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, tt.lazy)
			tt.do(s)
			switch {
			case tt.want == "" && len(s.breaches) > 0:
				t.Errorf("breaches: %q", s.breaches)
			case tt.want != "" && (len(s.breaches) != 1 || !strings.Contains(s.breaches[0], tt.want+": ")):
				t.Errorf("breaches: %q, want one of %s", s.breaches, tt.want)
			}
			for _, h := range s.files {
				s.must(h.Close())
			}
		})
	}
}

// freed makes page 2 a trunk of the freelist, and page 3 its leaf.
func freed(s *stage) {
	p1, trunk := page(1), make([]byte, pageSize)
	binary.BigEndian.PutUint32(p1[32:], 2)
	binary.BigEndian.PutUint32(p1[36:], 2)
	binary.BigEndian.PutUint32(trunk[4:], 1)
	binary.BigEndian.PutUint32(trunk[8:], 3)
	s.must(s.disk.WriteFile("/db", append(append(p1, trunk...), page(3)...)))
}

// A puncher is a handle that makes holes.
type puncher interface {
	Punch(off, n int64) error
}

func (s *stage) punch(pgno int64) { s.must(s.files["db"].(puncher).Punch((pgno-1)*pageSize, pageSize)) }

// logged makes a log with one frame, of page 2, all of it synced.
func logged(s *stage) {
	s.begin(1)
	s.sync("db-wal")
	s.must(s.sys.SyncDir("/db"))
	s.frame(1, 2, 20)
	s.sync("db-wal")
}

func checkpoint(s *stage) {
	logged(s)
	s.writePage(2, 20)
	s.sync("db")
}

// TestPassThrough sees errors and results of the system beneath.
func TestPassThrough(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	if size, ok, err := s.sys.Exists("/db"); size != 3*pageSize || !ok || err != nil {
		t.Errorf("Exists: %d, %v, %v", size, ok, err)
	}
	if err := s.sys.Remove("/none"); err == nil {
		t.Error("a file that is not there was removed")
	}
	if err := s.sys.Rename("/db", "/other"); err != nil {
		t.Error(err)
	}
	if _, err := s.sys.Open("/db", osfile.ReadWrite, 0); err == nil {
		t.Error("the old name is there")
	}
	h := s.files["db"]
	if err := h.(interface{ LoseSync(err error) error }).LoseSync(errors.New("lost")); err == nil {
		t.Error("LoseSync: no error")
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
