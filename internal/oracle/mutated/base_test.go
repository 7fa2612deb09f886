package mutated

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
)

// An image is a database with the files next to it.
type image struct {
	kind         string // of the mutation
	db           []byte
	journal, wal []byte // nil for none
	super        super
}

// A super is the trailer of a journal that names a super-journal.
type super struct {
	name  string // in the directory of the database, unless it has a slash; no trailer if it is empty and plain
	plain bool   // the name is as it stands here
	there bool   // the file exists, and lists the journal
	any   bool   // there is a trailer
}

const tables = `
	CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE, b TEXT, c NOT NULL DEFAULT 0);
	CREATE INDEX tb ON t(b, c);
	CREATE INDEX tp ON t(c) WHERE id > 20;
	CREATE TABLE k(a TEXT PRIMARY KEY, b, c UNIQUE) WITHOUT ROWID;
	CREATE TABLE n(x, y CHECK (x IS NOT 'never'), z AS (x || y));
	CREATE VIEW v AS SELECT a FROM t;`

// fill has rows of a few bytes and some on overflow pages, and free pages.
const fill = `
	WITH RECURSIVE i(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM i WHERE n < %d) INSERT INTO t SELECT n, printf('%%020d', n), substr(hex(zeroblob(1500)), 1, n * n %% 211 + (n %% 13 = 0) * 2000), n %% 5 FROM i;
	WITH RECURSIVE i(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM i WHERE n < %[1]d) INSERT INTO k SELECT printf('%%030d', n), n * 1.5, n FROM i;
	WITH RECURSIVE i(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM i WHERE n < %[1]d) INSERT INTO n SELECT n, zeroblob(n %% 7 * 40) FROM i;
	DELETE FROM n WHERE x %% 3 = 0 OR x BETWEEN 20 AND 60;`

var settings = []string{
	"PRAGMA page_size = 512",
	"PRAGMA page_size = 1024; PRAGMA auto_vacuum = 1",
	"PRAGMA page_size = 512; PRAGMA auto_vacuum = 2; PRAGMA encoding = 'UTF-16le'",
	"PRAGMA page_size = 4096",
}

// change is a transaction that touches many pages and makes the file longer.
const change = "UPDATE t SET b = b || 'more', c = c + 1 WHERE id % 2; INSERT INTO t SELECT id + 1000, a || 'x', b, c FROM t; DELETE FROM k WHERE c % 3 = 0"

// bases makes the images that are mutated: databases, some with a hot journal, some with a log.
func bases(t *testing.T) (list []image) {
	for i, setting := range settings {
		for _, rows := range []int{40, 150} {
			for _, mode := range []string{"delete", "hot", "wal"} {
				list = append(list, base(t, fmt.Sprintf("%d-%d-%s", i, rows, mode), setting, rows, mode))
			}
		}
	}
	return list
}

func base(t *testing.T, name, setting string, rows int, mode string) image {
	path := filepath.Join(t.TempDir(), name)
	c, err := judge.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	must := func(sql string) {
		if err := c.Exec(sql); err != nil {
			t.Fatal(err)
		}
	}
	must(setting + ";" + tables + fmt.Sprintf(fill, rows))
	switch mode {
	case "hot":
		must("PRAGMA cache_size = 5; BEGIN;" + change)
		defer must("ROLLBACK")
	case "wal":
		must("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; INSERT INTO n VALUES(1, 2);" + change)
	}
	img := image{db: read(t, path), journal: read(t, path+"-journal"), wal: read(t, path+"-wal")}
	if mode == "hot" && len(img.journal) < 2048 || mode == "wal" && len(img.wal) < 2048 {
		t.Fatalf("%s: %d bytes of journal, %d of log", mode, len(img.journal), len(img.wal))
	}
	return img
}

// read returns the content of a file, nil if it is not there.
func read(t *testing.T, path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return b
}

// write writes an image into a new directory, and returns the path of the database.
func (m *image) write(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "m.db")
	put := func(name string, b []byte) {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(path, m.db)
	journal := m.journal
	if m.super.any {
		name := m.super.name
		if !m.super.plain {
			name = filepath.Join(dir, name)
		}
		journal = append(append([]byte(nil), journal...), trailer(name)...)
		if m.super.there {
			put(name, []byte(strings.Join([]string{path + "-journal", dir + "/other-journal", ""}, "\x00")))
		}
	}
	if journal != nil {
		put(path+"-journal", journal)
	}
	if m.wal != nil {
		put(path+"-wal", m.wal)
	}
	return path
}
