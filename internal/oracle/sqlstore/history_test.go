package sqlstore_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/roottest"
	"github.com/foliofs/folio/internal/store/sqlstore"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestHistory changes a volume through the engine, through package sqlstore, and by statements of
// SQL. Its snapshots show what there was: the triggers keep what SQLite changes.
func TestHistory(t *testing.T) {
	eachDriver(t, func(t *testing.T, d *suite.Driver) {
		r := random.New(t)
		path, v, other := openTwice(t, d)
		db, err := sql.Open(d.Name, path)
		must.Do(t, err)
		t.Cleanup(func() { _ = db.Close() })
		db.SetMaxOpenConns(1)
		_, err = db.Exec("PRAGMA busy_timeout = 10000")
		must.Do(t, err)

		h := volumetest.NewHistory(r, v, v, other)
		runStatements(t, h, v, db)
	})
}

// TestClones changes a volume in which files share content through the engine and through package
// sqlstore, and compares it with one in which they are copied.
func TestClones(t *testing.T) {
	eachDriver(t, func(t *testing.T, d *suite.Driver) {
		r := random.New(t)
		_, v, other := openTwice(t, d)
		h := volumetest.NewHistory(r, v, v, other)
		h.Model = volumetest.Memory(t, nil)
		h.Run(t, *steps)
		h.End(t)
	})
}

// openTwice opens a new volume through the engine and through package sqlstore.
func openTwice(t *testing.T, d *suite.Driver) (path string, v, other *folio.Volume) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "test.folio")
	v, err := folio.Open(path, &folio.Options{Create: true})
	must.Do(t, err)
	t.Cleanup(func() { _ = v.Close() })
	other, err = folio.OpenStore(private.Key{}, d.Open(t, path, &sqlstore.Options{}), nil)
	must.Do(t, err)
	t.Cleanup(func() { _ = other.Close() })
	return path, v, other
}

// runStatements lets a History run whose volume is changed by statements of SQL, too.
func runStatements(t *testing.T, h *volumetest.History, v *folio.Volume, db *sql.DB) {
	t.Helper()
	h.Besides = func(r *rand.Rand) {
		statement := statements[r.IntN(len(statements))]
		if _, err := db.Exec(statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	h.Run(t, *steps)
	volumetest.WantClean(t, v)
	wantFileAt(t, v, db)
	h.End(t)
	volumetest.WantClean(t, v)
}

// anyFile is the number of a random inode with content.
const anyFile = "(SELECT id >> 28 FROM data ORDER BY random() LIMIT 1)"

// statements change a volume at random, and leave it consistent.
var statements = []string{
	"UPDATE node SET mtime_ns = random() / 1000, uid = uid + 1 WHERE ino % 7 = abs(random()) % 7",
	"REPLACE INTO node SELECT ino, mode, nlink, uid, gid + 1, size, holes, mtime_ns, ctime_ns, atime_ns, rdev FROM node WHERE ino % 7 = abs(random()) % 7",
	`BEGIN IMMEDIATE;
	CREATE TEMP TABLE taken AS SELECT * FROM node WHERE ino % 7 = abs(random()) % 7;
	DELETE FROM node WHERE ino IN (SELECT ino FROM taken);
	INSERT INTO node SELECT ino, mode, nlink, uid, gid, size, holes, mtime_ns, ctime_ns, atime_ns + 1, rdev FROM taken;
	DROP TABLE taken;
	COMMIT`,
	"UPDATE OR IGNORE entry SET name = name || 'x' WHERE length(name) < 5 AND ino % 11 = abs(random()) % 11",
	"UPDATE OR IGNORE entry SET name = substr(name, 1, 1) WHERE ino % 5 = abs(random()) % 5",
	"UPDATE data SET bytes = randomblob(length(bytes)) WHERE id IN (SELECT d.id FROM data AS d JOIN node AS n ON n.ino = d.id >> 28 WHERE n.mode & 0xF000 = 0x8000 AND length(d.bytes) > 0 ORDER BY random() LIMIT 3)",
	"REPLACE INTO data SELECT d.id, randomblob(length(d.bytes)) FROM data AS d JOIN node AS n ON n.ino = d.id >> 28 WHERE n.mode & 0xF000 = 0x8000 AND length(d.bytes) > 0 ORDER BY random() LIMIT 3",
	"INSERT INTO data SELECT d.id, randomblob(length(d.bytes)) FROM data AS d JOIN node AS n ON n.ino = d.id >> 28 WHERE n.mode & 0xF000 = 0x8000 AND length(d.bytes) > 0 ORDER BY random() LIMIT 3 ON CONFLICT DO UPDATE SET bytes = excluded.bytes",
	"REPLACE INTO xattr SELECT ino, 'user.' || (abs(random()) % 3), randomblob(9) FROM node WHERE nlink > 0 ORDER BY random() LIMIT 3",
	"UPDATE OR REPLACE xattr SET name = 'user.' || (abs(random()) % 3) WHERE ino % 3 = abs(random()) % 3",
	"DELETE FROM xattr WHERE ino = " + anyFile,
	"DELETE FROM xattr WHERE name = 'user.1'",
	"REPLACE INTO entry SELECT * FROM entry ORDER BY random() LIMIT 5",
}

// wantFileAt compares view file_at with what At shows.
func wantFileAt(t *testing.T, v *folio.Volume, db *sql.DB) {
	t.Helper()
	list, err := v.Snapshots(t.Context())
	must.Do(t, err)
	for _, s := range list {
		at, err := v.OpenSnapshot(t.Context(), s.Name)
		must.Do(t, err)
		var want []string
		must.Do(t, fs.WalkDir(at.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || name == "." {
				return err
			}
			info, err := at.Lstat(name)
			must.Do(t, err)
			var content []byte
			switch {
			case info.Mode().IsRegular():
				content, err = at.ReadFile(name)
			case info.Mode()&fs.ModeSymlink != 0:
				var target string
				target, err = at.Readlink(name)
				content = []byte(target)
			}
			want = append(want, fmt.Sprintf("%s %04o %d %s", name, info.Sys().(*folio.Node).Mode&0o7777, info.Sys().(*folio.Node).Size, roottest.Hash(content)))
			return err
		}))
		must.Do(t, at.Close())
		var got []string
		rows, err := db.Query("SELECT path, mode, size, content FROM file_at WHERE snapshot = ?", s.Name)
		must.Do(t, err)
		for rows.Next() {
			var path, mode string
			var size int64
			var content []byte
			must.Do(t, rows.Scan(&path, &mode, &size, &content))
			got = append(got, fmt.Sprintf("%s %s %d %s", path, mode, size, roottest.Hash(content)))
		}
		must.Do(t, errors.Join(rows.Err(), rows.Close()))
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("file_at of %s: %q, want %q", s.Name, got, want)
		}
	}
}
