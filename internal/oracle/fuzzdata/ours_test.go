package fuzzdata

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/internal/oracle/ours"
	"github.com/foliofs/folio/sqlitefile"
)

// probes is how many rows of a table and entries of an index are also looked up by their keys.
const probes = 100

// A finding is the engine's answer about an image.
type finding struct {
	openErr   error
	schemaErr error
	checkErr  error     // the report of Check
	tables    []reading // Err holds the error that ended one, Code is 0 or 1
	indexes   []reading
	panicked  string
	seconds   float64
	bytes     uint64 // allocated
}

// corrupt tells whether the engine called the image corrupt, or no database, anywhere.
func (f *finding) corrupt() bool {
	if f.openErr != nil || isCorrupt(f.schemaErr) || f.checkErr != nil {
		return true
	}
	for _, readings := range [][]reading{f.tables, f.indexes} {
		for _, r := range readings {
			if r.Code == judge.CodeCorrupt {
				return true
			}
		}
	}
	return false
}

func isCorrupt(err error) bool {
	return errors.Is(err, sqlitefile.ErrCorrupt) || errors.Is(err, sqlitefile.ErrNotDatabase)
}

// find lets the engine read an image, all of it, and measures it.
func find(dir string, img image, plain bool) *finding {
	path := filepath.Join(dir, filepath.Base(filepath.Dir(img.name))+"-"+filepath.Base(img.name))
	if err := os.WriteFile(path, img.bytes, 0o600); err != nil {
		return &finding{openErr: err}
	}
	defer os.Remove(path)
	f := new(finding)
	allocated, start := allocatedBytes(), time.Now()
	f.read(path, &sqlitefile.Options{NoMmap: plain})
	f.seconds, f.bytes = time.Since(start).Seconds(), allocatedBytes()-allocated
	return f
}

func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func (f *finding) read(path string, o *sqlitefile.Options) {
	defer func() {
		if p := recover(); p != nil {
			f.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
	}()
	db, err := sqlitefile.Open(path, o)
	if err != nil {
		f.openErr = err
		return
	}
	defer db.Close()
	err = db.View(context.Background(), func(rx *sqlitefile.Rx) error {
		f.readAll(rx)
		return nil
	})
	if err != nil {
		f.schemaErr = err
	}
	f.checkErr = check(db)
}

// readAll reads every table and index that the schema names, and the schema.
func (f *finding) readAll(rx *sqlitefile.Rx) {
	objects, err := rx.Objects()
	f.schemaErr = err
	for _, o := range objects {
		switch {
		case o.Root == 0:
		case strings.EqualFold(o.Type, "table"):
			f.tables = append(f.tables, readOurTable(rx, o.Name))
		case strings.EqualFold(o.Type, "index"):
			f.indexes = append(f.indexes, readOurIndex(rx, o))
		}
	}
}

// end notes the error that ended a reading.
func (r *reading) end(err error) {
	if err == nil {
		return
	}
	r.Err, r.Code = err.Error(), codeOther
	if isCorrupt(err) {
		r.Code = judge.CodeCorrupt
	}
}

func readOurTable(rx *sqlitefile.Rx, name string) reading {
	r := reading{Name: name}
	t, err := rx.Table(name)
	if err != nil {
		r.end(err)
		return r
	}
	r.digest(t.All())
	if r.Code == 0 {
		r.end(backward(&r, t))
	}
	if r.Code == 0 && !t.WithoutRowid() {
		r.end(getEach(t))
	}
	return r
}

// digest reads all rows. A virtual generated column is nowhere stored, and not a part of the row.
func (r *reading) digest(rows iter.Seq2[sqlitefile.Row, error]) {
	d := judge.NewDigest()
	var values []judge.Value
	for row, err := range rows {
		if err == nil {
			values, err = appendStored(values[:0], &row)
		}
		if err != nil {
			r.end(err)
			break
		}
		d.Row(row.Rowid(), values)
	}
	r.Rows, r.Sum = d.Rows, d.Sum()
}

func appendStored(values []judge.Value, row *sqlitefile.Row) ([]judge.Value, error) {
	for i := range row.Len() {
		v, err := row.Value(i)
		if errors.Is(err, sqlitefile.ErrUnsupported) {
			continue
		}
		if err != nil {
			return values, err
		}
		values = append(values, ours.Value(v))
	}
	return values, nil
}

// backward reads the rows in the opposite order; there must be as many.
func backward(r *reading, t sqlitefile.Table) error {
	n := 0
	for _, err := range t.Backward() {
		if err != nil {
			return err
		}
		n++
	}
	if n != r.Rows {
		return fmt.Errorf("%d rows forwards, %d backwards", r.Rows, n)
	}
	return nil
}

// getEach looks up some rows by their rowids. Not to find one is no error: in a tree that is out of
// order it is lost.
func getEach(t sqlitefile.Table) error {
	n := 0
	for row, err := range t.All() {
		if n++; err != nil || n > probes {
			return err
		}
		if _, _, err := t.Get(row.Rowid()); err != nil {
			return err
		}
	}
	return nil
}

func readOurIndex(rx *sqlitefile.Rx, o sqlitefile.Object) reading {
	r := reading{Name: o.Name, Table: o.Table}
	x, err := rx.Index(o.Name)
	if err != nil {
		r.end(err)
		return r
	}
	r.digest(x.All())
	if r.Code == 0 {
		r.end(findEach(x))
	}
	return r
}

// findEach looks up some entries by their first column.
func findEach(x sqlitefile.Index) error {
	n := 0
	for row, err := range x.All() {
		if n++; err != nil || n > probes || row.Len() == 0 {
			return err
		}
		v, err := row.Value(0)
		if err != nil {
			return err
		}
		if _, _, err := x.FindRow(v); err != nil {
			return err
		}
	}
	return nil
}

func (f *finding) String() string {
	s := fmt.Sprintf("open %v; schema %v; check %v", f.openErr, f.schemaErr, f.checkErr)
	for _, t := range f.tables {
		s += fmt.Sprintf("; table %q %d rows %x code %d %s", t.Name, t.Rows, t.Sum, t.Code, t.Err)
	}
	for _, t := range f.indexes {
		s += fmt.Sprintf("; index %q %d rows %x code %d %s", t.Name, t.Rows, t.Sum, t.Code, t.Err)
	}
	return s
}
