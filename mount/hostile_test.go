//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/sqlitefile"
)

var hostile = flag.Int("hostile", 10, "how many tampered volumes TestHostile mounts")

// hostileLimit is how long a program may wait for what it does in a tampered volume.
const hostileLimit = 20 * time.Second

// TestHostile mounts volumes whose rows were changed at random, walks them, reads, writes and
// removes what it finds, and unmounts them. Nothing may hang, and the daemon must live.
func TestHostile(t *testing.T) {
	needFUSE(t)
	for seed := range uint64(*hostile) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			volume := newVolume(t)
			tamper(t, volume, rand.New(rand.NewPCG(seed, 3)))
			if err := readable(volume); err != nil {
				t.Skipf("its root is damaged: %.200v", err)
			}
			d := startDaemon(t, volume)
			d.within(hostileLimit, "reading", func() { abuse(d.dir, false) })
			d.alive()
			d.within(hostileLimit, "writing", func() { abuse(d.dir, true) })
			d.alive()
			d.within(hostileLimit, "removing", func() { _ = os.RemoveAll(d.path("dir0")) })
			d.alive()
			d.stop()
		})
	}
}

// readable returns an error if a volume cannot be opened, or its root is none.
func readable(volume string) error {
	vol, err := folio.Open(volume, nil)
	if err != nil {
		return err
	}
	defer vol.Close()
	_, err = fs.Stat(vol.FS(), ".")
	return err
}

// abuse does to each file that it finds what programs do, as far as that goes.
func abuse(dir string, write bool) {
	found := 0
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if found++; found > 2000 { // directories may lead back to where they are
			return fs.SkipAll
		}
		if err != nil {
			return nil
		}
		_, _ = os.Lstat(path)
		_, _ = os.Readlink(path)
		if !e.Type().IsRegular() {
			return nil
		}
		if f, err := os.Open(path); err == nil {
			_, _ = f.Read(make([]byte, 1<<16))
			_, _ = f.Seek(0, 3)
			_ = f.Close()
		}
		if !write {
			return nil
		}
		_ = os.Chmod(path, 0o600)
		if f, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
			_, _ = f.WriteAt([]byte("x"), 1000)
			_ = f.Truncate(10)
			_ = f.Close()
		}
		_ = os.Rename(path, path+"x")
		_ = os.Remove(path + "x")
		return nil
	})
}

// tamper makes a volume and changes values of its rows.
func tamper(t *testing.T, volume string, rng *rand.Rand) {
	t.Helper()
	vol, err := folio.Open(volume, &folio.Options{Create: true})
	must.Do(t, err)
	for i := range 40 {
		dir := fmt.Sprintf("dir%d/sub%d", i%3, i%7)
		must.Do(t, vol.MkdirAll(dir, 0o755))
		must.Do(t, vol.WriteFile(fmt.Sprintf("%s/file%d", dir, i), make([]byte, rng.IntN(1<<rng.IntN(18))), 0o644))
		must.Do(t, vol.Symlink("../file", fmt.Sprintf("%s/link%d", dir, i)))
	}
	must.Do(t, vol.Close())
	db, err := sqlitefile.Open(volume, nil)
	must.Do(t, err)
	defer db.Close()
	for range 1 + rng.IntN(30) {
		table := []string{"node", "entry", "data"}[rng.IntN(3)]
		must.Do(t, db.Update(context.Background(), func(tx *sqlitefile.Tx) error { return tamperRow(tx, table, rng) }))
	}
}

// tamperRow changes one value of some row of a table.
func tamperRow(tx *sqlitefile.Tx, table string, rng *rand.Rand) error {
	w, err := tx.Table(table)
	if err != nil {
		return err
	}
	skip := rng.IntN(40)
	for row, err := range w.All() {
		if err != nil {
			return err
		}
		if skip--; skip >= 0 {
			continue
		}
		values := make([]any, row.Len())
		for i := range values {
			if values[i], err = row.Value(i); err != nil {
				return err
			}
		}
		values[rng.IntN(len(values))] = hostileValue(rng)
		if table == "entry" {
			return w.PutKey(values...)
		}
		rowid := row.Rowid()
		values[0] = rowid
		_, err = w.Update(rowid, values...)
		return err
	}
	return nil
}

// hostileValue returns a value that a program may not expect.
func hostileValue(rng *rand.Rand) any {
	switch rng.IntN(8) {
	case 0:
		return int64(rng.Uint64())
	case 1:
		return int64(-1)
	case 2:
		return "a/b"
	case 3:
		return make([]byte, rng.IntN(1<<18))
	case 4:
		return 1.5
	case 5:
		return int64(1 << rng.IntN(45))
	}
	return rng.Int64N(60)
}
