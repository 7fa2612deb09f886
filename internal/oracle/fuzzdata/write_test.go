package fuzzdata

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

var every = flag.Int("every", 8, "write to each so manieth image; 1 for all")

// written is how many rows are inserted into each table of an image, and how many are deleted.
const written = 100

// TestImagesWritten inserts rows into and deletes rows from each table of the images, then copies
// the log back and compacts them.
//
// The engine must not panic, and must not take more than two seconds or 64 MiB for any image. If C
// SQLite's integrity_check says ok before, no table may be corrupt, and integrity_check must say ok
// afterwards. If C refuses the schema, and says ok only without a part of it, both refuse to write.
func TestImagesWritten(t *testing.T) {
	w := new(worker)
	defer w.stop()
	images, sound, rows := 0, 0, 0
	var slowest float64
	var largest uint64
	n, classes := 0, make(map[string]int)
	for img, err := range images0(t) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; *only != "" && *only != img.name || *only == "" && n%*every != 0 {
			continue
		}
		before := &verdict{}
		if judge.Available {
			before = w.ask(img.bytes)()
		}
		classes[before.class()]++
		path := filepath.Join(t.TempDir(), "image.db")
		sane := before.ok() && !before.Lenient
		f := writeImage(path, img, sane)
		images, rows = images+1, rows+f.rows
		slowest, largest = max(slowest, f.seconds), max(largest, f.bytes)
		for _, broken := range limits(&f.finding) {
			t.Errorf("%s: %s", img.name, broken)
		}
		for _, err := range f.errs {
			t.Errorf("%s, which is sound: %v", img.name, err)
		}
		if !sane {
			continue
		}
		sound++
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if after := w.ask(b)(); !after.ok() {
			t.Errorf("%s was sound; now C says %v", img.name, after)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	t.Log(classes)
	t.Logf("%d images, %d of them sound; %d rows inserted; slowest %.3f s, largest %d KiB allocated", images, sound, rows, slowest, largest>>10)
}

func images0(t *testing.T) func(func(image, error) bool) { return images(corpusDir(t)) }

// A writing is what came of writing to an image.
type writing struct {
	finding
	rows int
	errs []error // of a sound image
}

// writeImage writes to an image.
func writeImage(path string, img image, sound bool) *writing {
	f := new(writing)
	if err := os.WriteFile(path, img.bytes, 0o600); err != nil {
		f.errs = append(f.errs, err)
		return f
	}
	watchdog := time.AfterFunc(time.Minute, func() { panic("the engine hangs on " + img.name) })
	defer watchdog.Stop()
	allocated, start := allocatedBytes(), time.Now()
	f.all(path)
	f.seconds, f.bytes = time.Since(start).Seconds(), allocatedBytes()-allocated
	if !sound {
		f.errs = nil
	}
	return f
}

// note remembers an error, unless it says only that a table is not one for these rows.
func (f *writing) note(what string, err error) {
	switch {
	case err == nil, errors.Is(err, sqlitefile.ErrConstraint), errors.Is(err, sqlitefile.ErrUnsupported), errors.Is(err, sqlitefile.ErrFull):
	default:
		f.errs = append(f.errs, fmt.Errorf("%s: %w", what, err))
	}
}

func (f *writing) all(path string) {
	defer func() {
		if p := recover(); p != nil {
			f.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
	}()
	ctx := context.Background()
	db, err := sqlitefile.Open(path, &sqlitefile.Options{Durability: sqlitefile.DurabilityOff, BusyTimeout: -1})
	if err != nil {
		f.note("open", err)
		return
	}
	var names []string
	f.note("the schema", db.View(ctx, func(rx *sqlitefile.Rx) error {
		objects, err := rx.Objects()
		for _, o := range objects {
			if o.Root != 0 && strings.EqualFold(o.Type, "table") && !strings.HasPrefix(strings.ToLower(o.Name), "sqlite_") {
				names = append(names, o.Name)
			}
		}
		return err
	}))
	for _, name := range names {
		f.note("insert into "+name, db.Update(ctx, func(tx *sqlitefile.Tx) error { return f.insert(tx, name) }))
		f.note("delete from "+name, db.Update(ctx, func(tx *sqlitefile.Tx) error { return remove(tx, name) }))
	}
	f.note("checkpoint", db.Checkpoint(ctx, sqlitefile.CheckpointTruncate))
	f.note("compact", db.Compact(ctx, nil))
	f.note("close", db.Close())
}

// insert inserts rows of all kinds of values. Those that a constraint refuses are left out.
func (f *writing) insert(tx *sqlitefile.Tx, name string) error {
	t, err := tx.Table(name)
	if err != nil {
		return err
	}
	columns := t.Columns()
	values := make([]any, len(columns))
	for n := range written {
		for i, c := range columns {
			values[i] = value(&c, n, i)
		}
		_, err := t.Insert(values...)
		if err == nil {
			f.rows++
		} else if !errors.Is(err, sqlitefile.ErrConstraint) {
			return err
		}
	}
	return nil
}

func value(c *sqlitefile.Column, n, i int) any {
	switch kind := strings.ToUpper(c.Type); {
	case c.Key == 1 && kind == "INTEGER":
		return nil
	case strings.HasPrefix(kind, "INT"):
		return n * 7_919 * (i + 1)
	case kind == "REAL":
		return float64(n) / 3
	case kind == "TEXT":
		return strings.Repeat(fmt.Sprint("text ", n, " "), 1+n%40)
	case kind == "BLOB":
		return make([]byte, 10*n)
	}
	switch (n + i) % 4 {
	case 0:
		return n
	case 1:
		return fmt.Sprint("value ", n)
	case 2:
		return float64(n) + 0.5
	}
	return fmt.Append(nil, "blob ", n)
}

// remove deletes the first rows.
func remove(tx *sqlitefile.Tx, name string) error {
	t, err := tx.Table(name)
	if err != nil {
		return err
	}
	for range written {
		c := t.Cursor()
		ok, err := c.First()
		if err != nil || !ok {
			return err
		}
		row, err := c.Row()
		if err != nil {
			return err
		}
		if t.WithoutRowid() {
			err = removeKey(t, &row)
		} else {
			_, err = t.DeleteRange(math.MinInt64, row.Rowid())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func removeKey(t sqlitefile.TableWriter, row *sqlitefile.Row) error {
	key := make(map[int]any)
	for i, c := range t.Columns() {
		if c.Key > 0 {
			v, err := row.Value(i)
			if err != nil {
				return err
			}
			key[c.Key] = v.Any()
		}
	}
	values := make([]any, 0, len(key))
	for i := range len(key) {
		values = append(values, key[i+1])
	}
	n, err := t.DeleteKey(values...)
	if err == nil && n == 0 {
		err = errors.New("the first row is not found by its key")
	}
	return err
}
