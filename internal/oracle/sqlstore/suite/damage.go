package suite

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native"
	"github.com/foliofs/folio/internal/store/sqlstore"
)

// InsertBeyond makes an inode with a number that is none.
const InsertBeyond = `INSERT INTO node SELECT 1 << 40, mode, nlink, uid, gid, size, holes, mtime_ns, ctime_ns, atime_ns, rdev FROM node WHERE ino = 1`

// damages are statements that make a volume contradict itself.
var damages = map[string]string{
	"none":             `SELECT 1`,
	"no such inode":    `INSERT INTO entry VALUES (1, 'b', 99, 1)`,
	"in a file":        `INSERT INTO entry SELECT 3, 'b', 3, 1`,
	"impossible name":  `UPDATE entry SET name = '..' WHERE ino = 3`,
	"other type":       `UPDATE entry SET type = 2 WHERE ino = 3`,
	"unknown type":     `UPDATE entry SET type = 300 WHERE ino = 3`,
	"root below":       `INSERT INTO entry VALUES (2, 'r', 1, 2)`,
	"nlink":            `UPDATE node SET nlink = 7 WHERE ino = 3`,
	"no name":          `DELETE FROM entry WHERE ino = 3`,
	"loop":             `UPDATE entry SET parent = 2 WHERE ino = 2`,
	"no root":          `DELETE FROM node WHERE ino = 1`,
	"content missing":  `DELETE FROM data`,
	"too much content": `UPDATE node SET size = 2 WHERE ino = 3`,
	"empty chunk":      `UPDATE data SET bytes = x''`,
	"nobody's content": `INSERT INTO data VALUES (77 << 28, x'00')`,
	"impossible holes": `UPDATE node SET holes = size + 1 WHERE ino = 3`,
	"huge size":        `UPDATE node SET size = 1 << 60 WHERE ino = 3`,
	"no type":          `UPDATE node SET mode = 420 WHERE ino = 3`,
	"attribute":        `INSERT INTO xattr VALUES (55, 'a', x'01'), (3, '', x'01')`,
	"orphan":           `INSERT INTO orphan VALUES (3), (0)`,
	"inode number":     InsertBeyond,

	"mode too large":    `UPDATE node SET mode = mode | 1 << 40 WHERE ino = 3`,
	"mode negative":     `UPDATE node SET mode = -1 WHERE ino = 3`,
	"mode a text":       `UPDATE node SET mode = 'text' WHERE ino = 3`,
	"nlink too large":   `UPDATE node SET nlink = (1 << 32) + 1 WHERE ino = 3`,
	"uid too large":     `UPDATE node SET uid = 1 << 32 WHERE ino = 3`,
	"gid negative":      `UPDATE node SET gid = -1 WHERE ino = 3`,
	"uid a fraction":    `UPDATE node SET uid = 1.5, gid = x'31' WHERE ino = 3`,
	"size of directory": `UPDATE node SET size = 4096 WHERE ino = 2`,
	"no device":         `UPDATE node SET rdev = -1 WHERE ino = 3`,
	"time a text":       `UPDATE node SET mtime_ns = 'now' WHERE ino = 2`,
	"name a blob":       `UPDATE entry SET name = CAST(name AS BLOB) WHERE ino = 3`,
	"parent a text":     `UPDATE entry SET parent = 'text' WHERE ino = 3`,
	"entry's fraction":  `UPDATE entry SET ino = 3.5 WHERE ino = 3`,
	"content a text":    `UPDATE data SET bytes = 'hëllo'`,
	"content a number":  `UPDATE data SET bytes = 17`,
	"attribute's kinds": `INSERT INTO xattr VALUES (3, 'a', 'text'), (3, x'62', x'01'), (3, 'c', 5), (2.5, 'd', x'01')`,
	"trigger":           `CREATE TRIGGER t AFTER INSERT ON node BEGIN SELECT 1; END`,
	"unique index":      `CREATE UNIQUE INDEX i ON entry (ino)`,
	"check":             `ALTER TABLE node ADD COLUMN x CHECK (x > 0)`,
}

// testDamage compares the problems that SQL and the engine find, and touches everything.
func (d *Driver) testDamage(t *testing.T) {
	for name, query := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "test.folio")
			must.Do(t, folio.Create(context.Background(), path, nil, func(b *folio.Builder) error {
				h := &folio.Header{Name: "dir/file", Mode: 0o644}
				return b.Add(h, bytes.NewReader(make([]byte, 100)))
			}))
			d.Exec(t, path, query)
			want := nativeReport(t, path)
			s := d.Open(t, path, &sqlstore.Options{ReadOnly: true})
			got, err := s.Check(context.Background(), nil)
			if err != nil || !slices.Equal(got.Problems, want.Problems) || got.Nodes != want.Nodes || got.Bytes != want.Bytes {
				t.Errorf("got %+v, %v; want %+v", got, err, want)
			}
			if got.OK() != (name == "none") {
				t.Errorf("%+v", got)
			}
			touchAll(t, s)
		})
	}
}

func nativeReport(t *testing.T, path string) *store.Report {
	t.Helper()
	s, err := native.Open(path, &native.Options{ReadOnly: true})
	must.Do(t, err)
	defer s.Close()
	report, err := s.Check(context.Background(), nil)
	must.Do(t, err)
	return report
}

// touchAll calls everything: it must come to an end without a panic, and give no impossible name.
func touchAll(t *testing.T, s store.Store) {
	t.Helper()
	rx, err := s.Begin(context.Background())
	must.Do(t, err)
	defer rx.End()
	for ino := range store.Ino(5) {
		var l store.Listing
		if rx.List(ino, "", 0, &l) == nil {
			for _, e := range l.Entries() {
				if !store.ValidName(e.Name) {
					t.Errorf("inode %d lists %q", ino, e.Name)
				}
			}
		}
		_, _ = rx.Lookup(ino, "dir")
		_, _ = rx.Xattrs(ino)
		if n, err := rx.Node(ino); err == nil {
			_, _ = rx.ReadAt(n, make([]byte, 200), 0)
		}
	}
}

// testTexts reads and writes contents that were stored as texts, of which SQL counts characters.
func (d *Driver) testTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.folio")
	must.Do(t, folio.Create(context.Background(), path, nil, func(b *folio.Builder) error {
		return b.AddBytes(&folio.Header{Name: "file", Mode: 0o644}, []byte("äöü, αβγ"))
	}))
	d.Exec(t, path, "UPDATE data SET bytes = CAST(bytes AS TEXT)")
	v := d.Volume(t, path)
	f, err := v.OpenFile("file", os.O_RDWR, 0)
	must.Do(t, err)
	defer f.Close()
	p := make([]byte, 4)
	if _, err := f.ReadAt(p, 2); err != nil || string(p) != "öü" {
		t.Errorf("%q, %v", p, err)
	}
	must.Do(t, f.Truncate(10))
	_, err = f.WriteAt([]byte("ß"), 10)
	must.Do(t, err)
	if p, err := v.ReadFile("file"); err != nil || string(p) != "äöü, αß" {
		t.Errorf("%q, %v", p, err)
	}
	must.Do(t, errors.Join(f.Close(), v.Close()))
	d.Judge(t, path)
}
