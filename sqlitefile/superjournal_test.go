//go:build unix

package sqlitefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/superjournal"
)

// A superCase is a database in the middle of a transaction of SQLite on two databases in two
// directories, whose super-journal lies in a third one. The transaction has one more row than the
// database before it.
type superCase struct {
	testing.TB
	dir          string
	path, child  string // the database, and the journal of the other one
	super, named string // the file of the super-journal, and its name in the journal
	before       []byte // the database before the transaction
}

// newSuperCase makes one whose super-journal is there, and whose other journal is not.
func newSuperCase(tb testing.TB) *superCase {
	tb.Helper()
	c := &superCase{TB: tb, dir: tb.TempDir()}
	for _, name := range []string{"a", "b", "c"} {
		c.do(os.Mkdir(filepath.Join(c.dir, name), 0o700))
	}
	c.path, c.child = filepath.Join(c.dir, "a", "one.db"), filepath.Join(c.dir, "b", "two.db-journal")
	c.super = filepath.Join(c.dir, "c", "main.db-mjABCDEF9AB")
	db, err := Open(c.path, &Options{Create: true, JournalMode: JournalDelete})
	c.do(err)
	c.do(db.Exec(tb.Context(), "CREATE TABLE t (a)"))
	c.do(db.Close())
	c.before = readFile(tb, c.path)
	db, err = Open(c.path, nil)
	c.do(err)
	c.do(db.Update(tb.Context(), func(tx *Tx) error {
		t, err := tx.Table("t")
		if err == nil {
			_, err = t.Insert("new")
		}
		return err
	}))
	c.do(db.Close())
	c.name(c.super)
	c.list(c.path+"-journal", c.child)
	return c
}

func (c *superCase) do(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// journal returns a hot journal of the database that names a super-journal.
func (c *superCase) journal(super string) []byte {
	const size = 4096
	h := format.JournalHeader{Nonce: 7, PageCount: uint32(len(c.before) / size), SectorSize: journalSector, PageSize: size}
	h.Records = h.PageCount
	b := make([]byte, journalSector)
	h.Put(b)
	for i := range h.PageCount {
		page := c.before[i*size:][:size]
		r := format.JournalRecord{Page: i + 1, Content: page, Checksum: format.JournalChecksum(h.Nonce, page)}
		b = r.Append(b)
	}
	sum := uint32(0)
	for _, char := range []byte(super) {
		sum += uint32(char)
	}
	b = append(binary.BigEndian.AppendUint32(b, format.LockPage(size)), super...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(super)))
	b = binary.BigEndian.AppendUint32(b, sum)
	return append(b, b[:8]...)
}

// name lets the journal of the database name a super-journal.
func (c *superCase) name(super string) {
	c.named = super
	writeFile(c, c.path+"-journal", c.journal(super))
}

// list lets the super-journal list some journals.
func (c *superCase) list(journals ...string) {
	writeFile(c, c.super, []byte(strings.Join(journals, "\x00")+"\x00"))
}

// rename gives the super-journal another name.
func (c *superCase) rename(base string) {
	to := filepath.Join(filepath.Dir(c.super), base)
	c.do(os.Rename(c.super, to))
	c.super = to
	c.name(to)
}

// TestSuperJournal opens databases whose journal names a super-journal. If that is gone, the
// transaction was committed. Otherwise it is rolled back, and the super-journal is deleted if it
// verifiably is one and no other journal needs it.
func TestSuperJournal(t *testing.T) {
	for _, tt := range superCases {
		t.Run(tt.name, func(t *testing.T) {
			c := newSuperCase(t)
			tt.prepare(c)
			rows := 0
			if tt.committed {
				rows = 1
			}
			db := open(t, c.path, nil)
			wantRows(t, db, rows)
			if _, err := os.Lstat(c.path + "-journal"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the journal is there: %v", err)
			}
			_, err := os.Lstat(c.super)
			if left := err == nil; left != tt.left {
				t.Errorf("the super-journal is left: %t, %v; want %t", left, err, tt.left)
			}
		})
	}
}

var superCases = []struct {
	name      string
	prepare   func(c *superCase)
	committed bool
	left      bool // the super-journal, or whatever has its name
}{
	{"it is there", func(*superCase) {}, false, false},
	{"it is gone", func(c *superCase) { c.do(os.Remove(c.super)) }, true, false},
	{"it is gone with its directory", func(c *superCase) { c.do(os.RemoveAll(filepath.Dir(c.super))) }, true, false},
	{"a file is in place of its directory", func(c *superCase) {
		c.do(os.RemoveAll(filepath.Dir(c.super)))
		writeFile(c, filepath.Dir(c.super), nil)
	}, true, false},
	{"its name is too long for a file", func(c *superCase) { c.name(filepath.Join(c.dir, strings.Repeat("x", 300)+"-mjABCDEF9AB")) }, true, true},
	{"its name has no bytes", func(c *superCase) { c.name("") }, false, true},
	{"its name is zeros", func(c *superCase) { c.name(strings.Repeat("\x00", 20)) }, false, true},
	{"its name begins with a zero", func(c *superCase) { c.name("\x00" + c.super[1:]) }, false, true},
	{"it is gone, and its name is not that of a super-journal", func(c *superCase) { c.name(filepath.Join(c.dir, "gone")) }, false, true},
	{"it is gone, and its name has too few digits", func(c *superCase) { c.name(filepath.Join(c.dir, "gone-mjABCDEF9A")) }, false, true},
	{"its name is a circle of links", func(c *superCase) {
		c.do(os.Remove(c.super))
		c.do(os.Symlink(c.super, c.super))
	}, true, true},
	{"it has no bytes", func(c *superCase) { writeFile(c, c.super, nil) }, true, true},
	{"it is named through a link to its directory", func(c *superCase) {
		c.do(os.Symlink(filepath.Dir(c.super), filepath.Join(c.dir, "link")))
		c.name(filepath.Join(c.dir, "link", filepath.Base(c.super)))
	}, false, false},
	{"it lists our journal by another name", func(c *superCase) {
		c.do(os.Symlink(filepath.Dir(c.path), filepath.Join(c.dir, "link")))
		c.list(filepath.Join(c.dir, "link", "one.db-journal"))
	}, false, false},
	{"another journal names it", func(c *superCase) { writeFile(c, c.child, c.journal(c.super)) }, false, true},
	{"another journal names it through a link", func(c *superCase) {
		c.do(os.Symlink(filepath.Dir(c.super), filepath.Join(c.dir, "link")))
		writeFile(c, c.child, c.journal(filepath.Join(c.dir, "link", filepath.Base(c.super))))
	}, false, true},
	{"another journal names another one", func(c *superCase) { writeFile(c, c.child, c.journal(c.super+"1")) }, false, false},
	{"another journal names none", func(c *superCase) { writeFile(c, c.child, c.journal("")) }, false, false},
	{"another journal is a named pipe", func(c *superCase) { c.do(syscall.Mkfifo(c.child, 0o600)) }, false, true},
	{"it does not list our journal", func(c *superCase) { c.list(c.child) }, false, true},
	{"its name is not that of a super-journal", func(c *superCase) { c.rename("main.db-mjABCDEF8AB") }, false, true},
	{"its name is only the end of one", func(c *superCase) { c.rename("mjABCDEF9AB") }, false, true},
	{"its name has other letters", func(c *superCase) { c.rename("main.db-mjABCDEG9AB") }, false, true},
	{"it has a second link", func(c *superCase) { c.do(os.Link(c.super, c.super+"2")) }, false, true},
	{"it is a link to one", func(c *superCase) {
		c.do(os.Rename(c.super, c.super+"2"))
		c.do(os.Symlink(c.super+"2", c.super))
	}, false, true},
	{"it is too large", func(c *superCase) { c.list(c.path+"-journal", strings.Repeat("x", superjournal.MaxSize)) }, false, true},
	{"it lists too much", func(c *superCase) { c.list(c.path+"-journal", strings.Repeat("x\x00", 2*superjournal.MaxChildren)) }, false, true},
	{"it is a named pipe", func(c *superCase) {
		c.do(os.Remove(c.super))
		c.do(syscall.Mkfifo(c.super, 0o600))
	}, false, true},
	{"it is a directory", func(c *superCase) {
		c.do(os.Remove(c.super))
		c.do(os.Mkdir(c.super, 0o700))
	}, false, true},
	{"it is the database", func(c *superCase) { c.name(c.path) }, false, true},
}

// TestSuperJournalRelative looks a relative name up from the working directory, as SQLite does.
func TestSuperJournalRelative(t *testing.T) {
	for _, there := range []bool{false, true} {
		c := newSuperCase(t)
		c.name(filepath.Join("c", filepath.Base(c.super)))
		want := 0
		if !there {
			c.do(os.Remove(c.super))
			want = 1
		}
		t.Chdir(c.dir)
		wantRows(t, open(t, c.path, nil), want)
		if _, err := os.Lstat(c.super); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the super-journal is there: %v", err)
		}
	}
}

// TestSuperJournalReadOnly opens databases for reading: a committed transaction needs no recovery.
func TestSuperJournalReadOnly(t *testing.T) {
	c := newSuperCase(t)
	if _, err := Open(c.path, &Options{ReadOnly: true}); !errors.Is(err, ErrNeedsRecovery) {
		t.Errorf("%v, want ErrNeedsRecovery", err)
	}
	c.do(os.Remove(c.super))
	wantRows(t, open(t, c.path, &Options{ReadOnly: true}), 1)
	if _, err := os.Stat(c.path + "-journal"); err != nil {
		t.Error("something was changed:", err)
	}
}

// TestSuperJournalStale writes over a finished journal that ends with the name of a super-journal
// which is gone. A crash afterwards must not look like a commit.
func TestSuperJournalStale(t *testing.T) {
	c := newSuperCase(t)
	journal := c.journal(filepath.Join(c.dir, "gone-mjABCDEF9AB"))
	copy(journal, make([]byte, format.JournalHeaderSize))
	writeFile(t, c.path+"-journal", append(make([]byte, 1<<20), journal...))
	db := open(t, c.path, &Options{JournalMode: JournalPersist})
	c.do(db.Exec(t.Context(), "CREATE TABLE u (a)"))
	if super := journalTail(t, c.path); super != "" {
		t.Errorf("the journal names %q", super)
	}
}

func journalTail(tb testing.TB, path string) string {
	b := readFile(tb, path+"-journal")
	name, _ := format.SuperJournal(b[max(0, len(b)-format.SuperJournalTail):])
	return name
}

// TestSuperJournalUnknown must not take a super-journal for gone that it may not look at.
func TestSuperJournalUnknown(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may look everywhere")
	}
	c := newSuperCase(t)
	c.do(os.Chmod(filepath.Dir(c.super), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(c.super), 0o700) })
	_, err := Open(c.path, nil)
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(fmt.Sprint(err), c.super) {
		t.Errorf("%v, want ErrPermission of %s", err, c.super)
	}
	if _, err := os.Stat(c.path + "-journal"); err != nil {
		t.Error(err)
	}
}
