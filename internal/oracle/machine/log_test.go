package machine

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/sqlitefile"
)

var largeLogs = flag.Bool("machine.large", false, "long logs with pages of 64 KiB too, which take 2 GiB")

// How many frames of a log fit into the first block of its index, and into the first two: then
// there is one more.
const (
	firstBlock = 4062
	twoBlocks  = 4062 + 4096
)

// logged is a table whose rows are of about half a kilobyte.
var logged = &table{name: "t", sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, a BLOB)", columns: []column{{name: "id"}, {name: "a"}}}

const loggedRows = 3000

// A longLog is a database with a log that grows over the blocks of its index. A reader of the first
// snapshot keeps the log from beginning again.
type longLog struct {
	*machine
	pageSize int
}

// TestLongLog lets ours and C write, read and recover logs whose index has a second and a third
// block.
func TestLongLog(t *testing.T) {
	t.Parallel()
	needC(t)
	sizes := []int{512, 1024, 4096}
	if *largeLogs {
		sizes = append(sizes, 65536)
	}
	for _, size := range sizes {
		for _, who := range []string{"ours", "theirs", "both"} {
			t.Run(fmt.Sprint(size, " by ", who), func(t *testing.T) {
				l := newLongLog(t, size, who)
				for _, frames := range []int{firstBlock - 1, firstBlock, firstBlock + 1, twoBlocks, twoBlocks + 1, twoBlocks + 500} {
					l.growTo(t, frames)
					l.compareLive(t)
				}
				l.recover(t, who)
			})
		}
	}
}

// newLongLog makes the database; who names the writers.
func newLongLog(t *testing.T, pageSize int, who string) *longLog {
	l := &longLog{machine: &machine{random: rand.New(rand.NewPCG(*first, uint64(pageSize))), ours: &engine{}}, pageSize: pageSize}
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	l.dir, err = folder()
	fail(err)
	t.Cleanup(func() { os.RemoveAll(l.dir) })
	l.ours.db, err = sqlitefile.Open(l.path(), &sqlitefile.Options{Create: true, PageSize: pageSize, JournalMode: sqlitefile.JournalWAL, Durability: sqlitefile.DurabilityOff})
	fail(err)
	l.theirs, err = newConn("file:" + l.path() + "?_sync=off")
	fail(err)
	l.model, err = newConn(":memory:")
	fail(err)
	t.Cleanup(l.close)
	for _, s := range []side{l.ours, l.model} {
		fail(s.update(func() error {
			if err := s.exec(logged.sql); err != nil {
				return err
			}
			for id := range int64(loggedRows) {
				if err := s.put(logged, id, []any{nil, make([]byte, 400)}); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	fail(l.ours.db.Checkpoint(ctx, sqlitefile.CheckpointTruncate))
	fail(l.theirs.exec("PRAGMA wal_autocheckpoint = 0"))
	rx, err := l.ours.db.BeginView(ctx)
	fail(err)
	t.Cleanup(rx.End)
	l.sides = []side{l.ours}
	if who != "ours" {
		l.sides = []side{l.theirs}
	}
	if who == "both" {
		l.sides = []side{l.ours, l.theirs}
	}
	return l
}

// frames is how many frames the log has.
func (l *longLog) frames(t *testing.T) int {
	info, err := os.Stat(l.path() + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Size()-32) / (l.pageSize + 24)
}

// growTo has small transactions write until the log has a number of frames, or some more.
func (l *longLog) growTo(t *testing.T, frames int) {
	for l.frames(t) < frames {
		rows := 1 + l.random.IntN(20)
		if frames-l.frames(t) < 40 {
			rows = 1
		}
		seed := l.random.Uint64()
		for _, s := range []side{pick(l.random, l.sides), l.model} {
			if err := s.update(func() error { return change(s, rows, seed) }); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// change gives some rows other bytes.
func change(s side, rows int, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 0))
	for range rows {
		b := make([]byte, 300+r.IntN(200))
		for i := range b[:8] {
			b[i] = byte(r.Uint32())
		}
		if err := s.put(logged, int64(r.IntN(loggedRows)), []any{nil, b}); err != nil {
			return err
		}
	}
	return nil
}

// compareLive reads the database with both through the index.
func (l *longLog) compareLive(t *testing.T) {
	t.Helper()
	want, err := l.model.rows(logged)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []side{l.ours, l.theirs} {
		got, err := s.rows(logged)
		if err == nil {
			err = difference(fmt.Sprintf("%T with %d frames", s, l.frames(t)), got, want)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// recover has both recover copies of the database without the index: whole ones, and such whose log
// ends early.
func (l *longLog) recover(t *testing.T, who string) {
	want, err := l.model.rows(logged)
	if err != nil {
		t.Fatal(err)
	}
	frames := l.frames(t)
	cuts := []int{frames, twoBlocks + 1, twoBlocks, firstBlock + 1, firstBlock, firstBlock - 1, l.random.IntN(frames), l.random.IntN(frames)}
	for i, cut := range cuts {
		size := 32 + int64(cut)*int64(l.pageSize+24)
		if cut < frames {
			size += int64(l.random.IntN(l.pageSize + 24)) // in the middle of the next frame
		}
		theirs, err := l.recovered(size, l.readTheirs)
		if err != nil {
			t.Fatalf("C, %d frames: %v", cut, err)
		}
		ours, err := l.recovered(size, l.readOurs)
		if err == nil {
			err = difference(fmt.Sprintf("written by %s, %d frames", who, cut), ours, theirs)
		}
		if i == 0 && err == nil {
			err = difference("all of it", ours, want)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// recovered reads a copy of the database with a log of a number of bytes.
func (l *longLog) recovered(size int64, read func(path string) ([]string, error)) ([]string, error) {
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "copy.db")
	if err := errors.Join(copyFile(path, l.path()), copyFile(path+"-wal", l.path()+"-wal"), os.Truncate(path+"-wal", size)); err != nil {
		return nil, err
	}
	return read(path)
}

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

func (l *longLog) readTheirs(path string) (rows []string, err error) {
	c, err := newConn("file:" + path)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := wantOK(c.conn, "main"); err != nil {
		return nil, err
	}
	return c.rows(logged)
}

// readOurs also writes, closes, and lets C check the files.
func (l *longLog) readOurs(path string) (rows []string, err error) {
	db, err := sqlitefile.Open(path, nil)
	if err != nil {
		return nil, err
	}
	e := &engine{db: db}
	if rows, err = e.rows(logged); err == nil {
		err = e.update(func() error { return change(e, 5, 1) })
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	_, err = l.readTheirs(path)
	return rows, err
}
