package suite

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/blocked"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native"
	"github.com/foliofs/folio/internal/store/sqlstore"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestVersions reads while another goroutine commits: equal versions must read the same.
func (d *Driver) TestVersions(t *testing.T) {
	const readers, commits = 3, 1500
	r := random(t)
	s := d.open(t, filepath.Join(t.TempDir(), "test.folio"), &sqlstore.Options{Create: true})
	var done sync.WaitGroup
	stop, read := make(chan struct{}), make(chan struct{}, readers)
	var mu sync.Mutex // guards known
	known := make(map[uint64]uint64)
	for range readers {
		done.Go(func() {
			for {
				version, n, err := versionOf(s)
				mu.Lock()
				if before, ok := known[version]; err != nil || ok && before != n {
					t.Errorf("version %d reads %d, and %d before; %v", version, n, before, err)
				}
				known[version] = n
				mu.Unlock()
				select {
				case <-stop:
					return
				case read <- struct{}{}:
				}
			}
		})
	}
	for i := range commits {
		for range r.IntN(2 * readers) { // so that now and then a commit comes while readers begin
			<-read
		}
		must.Do(t, s.Update(context.Background(), func(tx store.Tx) error {
			return tx.SetXattr(store.Root, "user.n", binary.BigEndian.AppendUint64(nil, uint64(i+1)))
		}))
	}
	close(stop)
	done.Wait()
	if version, n, err := versionOf(s); err != nil || n != commits {
		t.Errorf("version %d: %d, %v", version, n, err)
	}
}

// versionOf returns the version of a transaction, and how many commits it sees.
func versionOf(s store.Store) (version, n uint64, err error) {
	rx, err := s.Begin(context.Background())
	if err != nil {
		return 0, 0, err
	}
	defer rx.End()
	list, err := rx.Xattrs(store.Root)
	if err == nil && len(list) > 0 {
		n = binary.BigEndian.Uint64(list[0].Value)
	}
	return rx.Version(), n, err
}

// TestTurns lets SQL and the engine write to one volume in turn.
func (d *Driver) TestTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.folio")
	var want []string
	for i := range 8 {
		v := d.turn(t, path, i%2 == 0)
		for j := range 5 {
			name := fmt.Sprint(i, "-", j)
			must.Do(t, v.WriteFile(name, bytes.Repeat([]byte(name), 40_000), 0o644))
			want = append(want, name)
		}
		f, err := v.Open(want[0])
		must.Do(t, err)
		must.Do(t, v.Remove(want[0])) // an orphan
		if i%3 == 0 {
			must.Do(t, f.Close())
		}
		want = want[1:]
		must.Do(t, v.Sync(context.Background()))
		report, err := v.Check(context.Background(), nil)
		if err != nil || !report.OK() {
			t.Fatalf("turn %d: %v, %+v", i, err, report)
		}
		checkTurn(t, v, want)
		must.Do(t, v.Close())
	}
	v := d.turn(t, path, true)
	if report, err := v.Check(context.Background(), nil); err != nil || !report.OK() || report.Nodes != int64(len(want)+1) {
		t.Errorf("%v, %+v", err, report)
	}
	must.Do(t, v.Close())
	d.judge(t, path)
}

// turn opens a volume, by SQL or not.
func (d *Driver) turn(t *testing.T, path string, sql bool) *folio.Volume {
	t.Helper()
	if sql {
		return d.volume(t, path)
	}
	v, err := folio.Open(path, nil)
	must.Do(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// checkTurn looks for files whose content is their name, again and again.
func checkTurn(t *testing.T, v *folio.Volume, want []string) {
	t.Helper()
	list, err := v.ReadDir(".")
	must.Do(t, err)
	var got []string
	for _, e := range list {
		got = append(got, e.Name())
		p, err := v.ReadFile(e.Name())
		if want := bytes.Repeat([]byte(e.Name()), 40_000); err != nil || !bytes.Equal(p, want) {
			t.Errorf("%s: %d bytes, %v", e.Name(), len(p), err)
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestTogether makes random calls from goroutines and through two stores at once: no call is kept
// from its work by another, and nothing remains of removed files that are not open.
func (d *Driver) TestTogether(t *testing.T) {
	const goroutines, each = 3, 150
	path := filepath.Join(t.TempDir(), "test.folio")
	volumes := []*folio.Volume{d.volume(t, path), d.volume(t, path)}
	var done sync.WaitGroup
	for i, v := range volumes {
		for range goroutines {
			r := random(t)
			r = rand.New(rand.NewPCG(r.Uint64(), uint64(i)))
			done.Go(func() {
				s := &volumetest.Side{Volume: v}
				defer s.Close()
				for range each {
					c := volumetest.RandomCall(r)
					got := c.Do(s)
					for _, bad := range []error{folio.ErrBusy, folio.ErrDamaged, folio.ErrReadOnly, folio.ErrFull} {
						if strings.Contains(got, bad.Error()) {
							t.Errorf("%s: %s", c.Name, got)
						}
					}
				}
			})
		}
	}
	done.Wait()
	for _, v := range volumes {
		must.Do(t, v.Close())
	}
	s := d.open(t, path, nil)
	r, err := s.Check(context.Background(), nil)
	if err != nil || !r.OK() {
		t.Errorf("%v, %+v", err, r)
	}
	if n := d.count(t, path, "SELECT count(*) FROM orphan JOIN node USING (ino)"); n > 0 {
		t.Errorf("%d orphans are left", n)
	}
}

// TestNoLog writes to a volume without a log while a reader has a transaction open. The reader
// keeps the volume from getting a log, and a commit from ending.
func (d *Driver) TestNoLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.folio")
	must.Do(t, folio.Create(context.Background(), path, nil, func(b *folio.Builder) error {
		return b.AddBytes(&folio.Header{Name: "old", Mode: 0o644}, []byte("old"))
	}))
	reading, s := d.open(t, path, &sqlstore.Options{ReadOnly: true}), d.open(t, path, &sqlstore.Options{BusyTimeout: -1})
	rx, err := reading.Begin(context.Background())
	must.Do(t, err)
	add := func(tx store.Tx) error {
		_, err := addFile(tx, "new")
		return err
	}
	if err := s.Update(context.Background(), add); !errors.Is(err, store.ErrBusy) {
		t.Errorf("%v, want ErrBusy", err)
	}
	rx.End()
	must.Do(t, s.Update(context.Background(), add))
	must.Do(t, s.Sync(context.Background()))
	rx, err = reading.Begin(context.Background())
	must.Do(t, err)
	defer rx.End()
	var l store.Listing
	if err := rx.List(store.Root, "", 0, &l); err != nil || len(l.Items) != 2 {
		t.Errorf("%d entries, %v", len(l.Items), err)
	}
}

// TestPinAlone checks that the log can start over while an inode is pinned: a pin has no snapshot
// of the volume.
func (d *Driver) TestPinAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.folio")
	s := d.open(t, path, &sqlstore.Options{Create: true})
	must.Do(t, s.Pin(store.Root))
	defer s.Unpin(store.Root)
	must.Do(t, s.Update(context.Background(), func(tx store.Tx) error { return tx.SetXattr(store.Root, "user.a", []byte("a")) }))
	db, err := sql.Open(d.Name, d.dsn(path))
	must.Do(t, err)
	defer db.Close()
	var busy, frames, copied int
	must.Do(t, db.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &copied))
	if busy != 0 {
		t.Error("the log cannot be begun anew while an inode is held")
	}
}

// TestPinBusy pins an inode while another connection has the side database for itself: other Stores
// must learn of the pin that is taken then.
func (d *Driver) TestPinBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.folio")
	s := d.open(t, path, &sqlstore.Options{Create: true, BusyTimeout: -1})
	var ino store.Ino
	must.Do(t, s.Update(context.Background(), func(tx store.Tx) (err error) {
		ino, err = addFile(tx, "file")
		return err
	}))
	end := d.exclusive(t, path+"-hold")
	if err := s.Pin(ino); !errors.Is(err, store.ErrBusy) {
		t.Errorf("%v, want ErrBusy", err)
	}
	end()
	must.Do(t, s.Pin(ino))
	other := d.open(t, path, nil)
	must.Do(t, other.Update(context.Background(), func(tx store.Tx) error { return removeFile(tx, "file", ino) }))
	must.Do(t, other.Close())
	if !exists(t, s, ino) {
		t.Error("a file is gone that is held")
	}
	s.Unpin(ino)
	if exists(t, s, ino) {
		t.Error("a file is left that nobody holds")
	}
}

// TestRelease unpins a file that has no name while another Store writes: once an Update begins,
// which may wait for that, Unpin does not wait.
func (d *Driver) TestRelease(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.folio")
	s, other := d.open(t, path, &sqlstore.Options{Create: true, BusyTimeout: time.Minute}), d.open(t, path, nil)
	var ino store.Ino
	must.Do(t, s.Update(context.Background(), func(tx store.Tx) (err error) {
		ino, err = addFile(tx, "file")
		return errors.Join(err, s.Pin(ino), removeFile(tx, "file", ino))
	}))
	released := make(chan struct{})
	must.Do(t, other.Update(context.Background(), func(store.Tx) error {
		go func() {
			s.Unpin(ino)
			close(released)
		}()
		blocked.Wait(t, "(*Driver).TestRelease", "(*Queue).Reap")
		go func() { _ = s.Update(context.Background(), func(store.Tx) error { return nil }) }()
		select {
		case <-released:
		case <-time.After(10 * time.Second):
			t.Error("Unpin waits")
		}
		return nil
	}))
	must.Do(t, s.Close())
	if exists(t, other, ino) {
		t.Error("it is still there")
	}
}

// exclusive locks a database until end is called.
func (d *Driver) exclusive(t *testing.T, path string) (end func()) {
	t.Helper()
	db, err := sql.Open(d.Name, d.dsn(path))
	must.Do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	c, err := db.Conn(context.Background())
	must.Do(t, err)
	_, err = c.ExecContext(context.Background(), "BEGIN EXCLUSIVE")
	must.Do(t, err)
	return func() { must.Do(t, c.Close()); must.Do(t, db.Close()) }
}

// holderPath is where the process of TestHolder finds the volume.
const holderPath = "SQLSTORE_HOLDER_PATH"

// TestHolder keeps a removed file for another process, until that is killed. It is this test again.
func (d *Driver) TestHolder(t *testing.T) {
	if path := os.Getenv(holderPath); path != "" {
		d.pinForever(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "test.folio")
	s := d.open(t, path, &sqlstore.Options{Create: true})
	var ino store.Ino
	must.Do(t, s.Update(context.Background(), func(tx store.Tx) (err error) {
		ino, err = addFile(tx, "file")
		return err
	}))
	kill := startHolder(t, path)
	must.Do(t, s.Update(context.Background(), func(tx store.Tx) error { return removeFile(tx, "file", ino) }))
	must.Do(t, s.Close())
	s = d.open(t, path, nil)
	if !exists(t, s, ino) {
		t.Error("a file is gone that another process holds")
	}
	must.Do(t, s.Close())
	kill()
	if s = d.open(t, path, nil); exists(t, s, ino) {
		t.Error("a file is left that nobody holds")
	}
}

// pinForever opens the file and says so, and waits to be killed.
func (d *Driver) pinForever(t *testing.T, path string) {
	v := d.volume(t, path)
	f, err := v.Open("file")
	must.Do(t, err)
	defer f.Close()
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func startHolder(t *testing.T, path string) (kill func()) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestHolder$")
	c.Env = append(os.Environ(), holderPath+"="+path)
	c.Stderr = os.Stderr
	_, err := c.StdinPipe() // which stays open
	must.Do(t, err)
	out, err := c.StdoutPipe()
	must.Do(t, err)
	must.Do(t, c.Start())
	kill = sync.OnceFunc(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	t.Cleanup(kill)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == "held" {
			return kill
		}
	}
	t.Fatal("the other process did not come to hold the file")
	return nil
}

func addFile(tx store.Tx, name string) (store.Ino, error) {
	n := store.Node{Mode: store.ModeRegular | 0o600, Nlink: 1}
	if err := tx.Insert(&n); err != nil {
		return 0, err
	}
	return n.Ino, tx.Link(store.Root, store.Entry{Name: name, Ino: n.Ino, Type: store.File})
}

func removeFile(tx store.Tx, name string, ino store.Ino) error {
	n, err := tx.Node(ino)
	return errors.Join(err, tx.Unlink(store.Root, name), tx.Orphan(&n))
}

// exists reports whether there is an inode.
func exists(t *testing.T, s store.Store, ino store.Ino) bool {
	t.Helper()
	rx, err := s.Begin(context.Background())
	must.Do(t, err)
	defer rx.End()
	_, err = rx.Node(ino)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	return err == nil
}

// insertBeyond makes an inode with a number that is none.
const insertBeyond = `INSERT INTO node SELECT 1 << 40, mode, nlink, uid, gid, size, holes, mtime_ns, ctime_ns, atime_ns, rdev FROM node WHERE ino = 1`

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
	"inode number":     insertBeyond,

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

// TestDamage compares the problems that SQL and the engine find, and touches everything.
func (d *Driver) TestDamage(t *testing.T) {
	for name, query := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "test.folio")
			must.Do(t, folio.Create(context.Background(), path, nil, func(b *folio.Builder) error {
				h := &folio.Header{Name: "dir/file", Mode: 0o644}
				return b.Add(h, bytes.NewReader(make([]byte, 100)))
			}))
			d.run(t, path, query)
			want := nativeReport(t, path)
			s := d.open(t, path, &sqlstore.Options{ReadOnly: true})
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

// TestAddedColumns writes to a volume whose tables got further columns, an index and a trigger:
// SQLite keeps all of it.
func (d *Driver) TestAddedColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.folio")
	must.Do(t, folio.Create(context.Background(), path, nil, func(b *folio.Builder) error {
		h := &folio.Header{Name: "dir/file", Mode: 0o644, Xattrs: map[string][]byte{"user.a": []byte("1")}}
		return b.Add(h, bytes.NewReader(bytes.Repeat([]byte("content"), 20_000)))
	}))
	var add []string
	for _, table := range []string{"node", "entry", "data", "xattr"} {
		add = append(add, "ALTER TABLE "+table+" ADD COLUMN tag TEXT NOT NULL DEFAULT 'new'", "UPDATE "+table+" SET tag = 'kept'")
	}
	d.run(t, path, append(add, "CREATE INDEX tags ON data (tag)", "CREATE TABLE log (name)",
		"CREATE TRIGGER logs AFTER INSERT ON entry BEGIN INSERT INTO log VALUES (new.name); END")...)
	v := d.volume(t, path)
	f, err := v.OpenFile("dir/file", os.O_RDWR, 0)
	must.Do(t, err)
	for _, off := range []int64{0, 65_000, 139_990} {
		_, err := f.WriteAt(bytes.Repeat([]byte("x"), 1000), off)
		must.Do(t, err)
	}
	must.Do(t, errors.Join(f.Truncate(140_500), f.Truncate(139_000), f.Close()))
	must.Do(t, errors.Join(v.Chmod("dir", 0o700), v.SetXattr("dir/file", "user.a", []byte("2")), v.WriteFile("new", []byte("new"), 0o644), v.Close()))
	for query, want := range map[string]int{
		"SELECT count(*) FROM node WHERE tag = 'kept'": 3, "SELECT count(*) FROM node WHERE tag = 'new'": 1,
		"SELECT count(*) FROM entry WHERE tag = 'kept'": 2, "SELECT count(*) FROM entry WHERE tag = 'new'": 1,
		"SELECT count(*) FROM data WHERE tag = 'kept'": 3, "SELECT count(*) FROM data WHERE tag = 'new'": 1,
		"SELECT count(*) FROM xattr WHERE tag = 'kept'": 1, "SELECT count(*) FROM log WHERE name = 'new'": 1,
	} {
		if n := d.count(t, path, query); n != want {
			t.Errorf("%s: %d, want %d", query, n, want)
		}
	}
	d.run(t, path, "DROP TRIGGER logs")
	d.judge(t, path)
}

// TestTexts reads and writes contents that were stored as texts, of which SQL counts characters.
func (d *Driver) TestTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.folio")
	must.Do(t, folio.Create(context.Background(), path, nil, func(b *folio.Builder) error {
		return b.AddBytes(&folio.Header{Name: "file", Mode: 0o644}, []byte("äöü, αβγ"))
	}))
	d.run(t, path, "UPDATE data SET bytes = CAST(bytes AS TEXT)")
	v := d.volume(t, path)
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
	d.judge(t, path)
}

// TestNotOurs writes to a volume with a number beyond the last and an orphan that has a name, both
// of which stay as they are.
func (d *Driver) TestNotOurs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.folio")
	s := d.open(t, path, &sqlstore.Options{Create: true})
	var ino store.Ino
	must.Do(t, s.Update(context.Background(), func(tx store.Tx) (err error) {
		ino, err = addFile(tx, "file")
		return err
	}))
	must.Do(t, s.Close())
	d.run(t, path, insertBeyond, fmt.Sprintf("INSERT INTO orphan VALUES (%d)", ino))
	s = d.open(t, path, nil)
	must.Do(t, s.Update(context.Background(), func(tx store.Tx) error {
		next, err := addFile(tx, "next")
		if next != ino+1 {
			t.Errorf("inode %d after %d", next, ino)
		}
		return err
	}))
	if !exists(t, s, ino) {
		t.Error("a file with a name is gone")
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
