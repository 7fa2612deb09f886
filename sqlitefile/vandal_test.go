package sqlitefile

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/osfile"
)

var (
	vandalHits = flag.Int("vandal.hits", 50, "how often TestVandal damages a database that is in use")
	vandalSeed = flag.Uint64("vandal.seed", 1, "its first seed")
)

// TestVandal cuts off, deletes, renames and replaces the files of a database that is being read and
// written: the process lives, every call returns, errors say which file it is about, and nothing is
// acknowledged that went into a file without a name.
func TestVandal(t *testing.T) {
	if !osfile.ReplacesOpen {
		t.Skip("skipped: this system does not replace files that are open")
	}
	for n := range inQuick(min(4, *vandalHits), inShort(min(15, *vandalHits), *vandalHits)) {
		seed := *vandalSeed + uint64(n)
		rng := rand.New(rand.NewPCG(seed, 5))
		v := &vandal{tb: t, rng: rng, path: filepath.Join(t.TempDir(), "v.db"), mode: crashModes[rng.IntN(len(crashModes))].name}
		v.plain = rng.IntN(4) == 0
		v.durability = []Durability{DurabilityFull, DurabilityFull, DurabilityNormal, DurabilityOff}[rng.IntN(4)]
		if err := v.run(); err != nil {
			t.Fatalf("seed %d: %s, durability %d, plain %v, %s: %v", seed, v.mode, v.durability, v.plain, v.did, err)
		}
	}
}

// A vandal is one database, and what is done to it.
type vandal struct {
	tb         testing.TB
	rng        *rand.Rand
	path, mode string
	durability Durability
	plain      bool

	db    *DB
	did   string
	file  string // what was hit
	moved bool   // it is not under its name any more

	mu       sync.Mutex // guards what follows
	acked    int        // rows 1 to acked are acknowledged
	struck   bool
	noticed  bool     // an error has said so
	failures []string // what must not be
}

func (v *vandal) options() *Options {
	o := &Options{Create: true, Durability: v.durability, NoMmap: v.plain, PageSize: 512 << v.rng.IntN(4), BusyTimeout: time.Minute}
	for _, m := range crashModes {
		if m.name == v.mode {
			if o.JournalMode = m.journal; m.wal {
				o.JournalMode = JournalWAL
			}
		}
	}
	return o
}

func (v *vandal) run() (err error) {
	if v.db, err = Open(v.path, v.options()); err != nil {
		return err
	}
	if err := v.db.Exec(context.Background(), "CREATE TABLE t (a INTEGER PRIMARY KEY, b)"); err != nil {
		return err
	}
	for range 1 + v.rng.IntN(60) {
		if err := v.insert(); err != nil {
			return err
		}
	}
	var busy sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		busy.Go(func() { v.read(stop) })
	}
	hit, over := make(chan struct{}), make(chan struct{})
	busy.Go(func() { v.write(hit, over) })
	<-hit
	err = v.strike()
	<-over
	close(stop)
	busy.Wait()
	v.complain(v.db.Close())
	if err != nil || len(v.failures) > 0 {
		return errors.Join(err, errors.New(strings.Join(v.failures, "\n")))
	}
	return v.after()
}

// insert commits one more row.
func (v *vandal) insert() error {
	v.mu.Lock()
	next := v.acked + 1
	v.mu.Unlock()
	err := v.db.Update(context.Background(), func(tx *Tx) error {
		t, err := tx.Table("t")
		if err != nil {
			return err
		}
		return t.Put(int64(next), nil, strings.Repeat(fmt.Sprint(next, "."), 1+next%70))
	})
	if err == nil {
		v.mu.Lock()
		v.acked = next
		v.mu.Unlock()
	}
	return err
}

// write commits rows, the blow somewhere among them, until it meets an error, or for a while.
func (v *vandal) write(hit, over chan struct{}) {
	defer close(over)
	before := v.rng.IntN(20)
	for n := range 400 {
		if n == before {
			close(hit)
		}
		v.mu.Lock()
		struck := v.struck
		v.mu.Unlock()
		err := v.insert()
		v.complain(err)
		switch {
		case err != nil && !struck && n < before:
			v.failf("before anything happened: %v", err)
		case err == nil && struck && v.mustFail():
			v.failf("a commit to a file without a name was acknowledged")
		case err != nil && (errors.Is(err, ErrMoved) || errors.Is(err, ErrFailed)):
			if n < before {
				close(hit)
			}
			return
		case struck && n > before+100:
			return
		}
	}
}

// mustFail reports whether a commit that began after the blow cannot succeed.
func (v *vandal) mustFail() bool {
	if !v.moved || strings.HasSuffix(v.file, "-journal") {
		return false
	}
	return v.durability <= DurabilityExtra || v.mode != "wal"
}

func (v *vandal) read(stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		v.complain(v.db.View(context.Background(), countRows(new(int))))
	}
}

// strike does something to one of the files.
func (v *vandal) strike() error {
	files, err := filepath.Glob(v.path + "*")
	if err != nil {
		return err
	}
	v.file = files[v.rng.IntN(len(files))]
	info, err := os.Stat(v.file)
	if errors.Is(err, fs.ErrNotExist) { // a journal comes and goes
		v.did = "nothing"
		return nil
	}
	if err != nil {
		return err
	}
	switch v.rng.IntN(5) {
	case 0:
		v.did, v.moved = "deleted", true
		err = os.Remove(v.file)
	case 1:
		v.did, v.moved = "renamed", true
		err = os.Rename(v.file, v.file+".away")
	case 2:
		v.did, v.moved = "replaced", true
		if err = os.WriteFile(v.path+".new", make([]byte, info.Size()), 0o644); err == nil {
			err = os.Rename(v.path+".new", v.file)
		}
	default:
		size := []int64{0, v.rng.Int64N(info.Size() + 1), v.rng.Int64N(info.Size()+1) &^ 4095, v.rng.Int64N(200)}[v.rng.IntN(4)]
		size = min(size, info.Size())
		v.did = fmt.Sprintf("cut off from %d to %d bytes", info.Size(), size)
		err = os.Truncate(v.file, size)
	}
	v.did += " " + filepath.Base(v.file)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	v.mu.Lock()
	v.struck = true
	v.mu.Unlock()
	return err
}

// complain looks at an error that somebody has got.
func (v *vandal) complain(err error) {
	if err == nil {
		return
	}
	if text := err.Error(); strings.Contains(text, "\n") || strings.Count(text, v.path) != 1 {
		v.failf("not one line with one path: %q", text)
	}
	v.mu.Lock()
	v.noticed = v.noticed || v.struck
	v.mu.Unlock()
	if errors.Is(err, ErrBusy) {
		v.failf("%v", err)
	}
}

func (v *vandal) failf(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.failures) < 5 {
		v.failures = append(v.failures, fmt.Sprintf(format, args...))
	}
}

// after looks at what is left: where what was hit holds no content, everything that was
// acknowledged.
func (v *vandal) after() error {
	if !strings.HasSuffix(v.file, "-shm") && v.did != "nothing" {
		return v.reopen()
	}
	if v.noticed && v.durability > DurabilityExtra { // what was built on a damaged index before that may be wrong
		return v.reopen()
	}
	db, err := Open(v.path, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	n := 0
	err = db.View(context.Background(), countRows(&n))
	if err == nil && n < v.acked {
		err = fmt.Errorf("%d rows, of which %d are left, were acknowledged", v.acked, n)
	}
	if report, err := db.Check(context.Background(), nil); err != nil || !report.OK() {
		return fmt.Errorf("check: %w %v", err, report)
	}
	return err
}

// reopen must only come to an end.
func (v *vandal) reopen() error {
	db, err := Open(v.path, nil)
	if err != nil {
		return nil
	}
	_ = db.View(context.Background(), countRows(new(int)))
	_ = db.Close()
	return nil
}
