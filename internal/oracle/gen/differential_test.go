package gen

import (
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

var (
	seed = flag.Uint64("seed", 1, "seed of the databases")
	full = flag.Bool("full", false, "every kind under every header")
)

// TestDifferential reads databases made by C SQLite with both, mapped and plain, and compares value
// by value, type and bytes: every table forwards, backwards, row by row and in ranges; every index
// in its order, and searched by whole keys, prefixes and values that are not there.
func TestDifferential(t *testing.T) {
	if !judge.Available {
		t.Skip("C SQLite: no C compiler in this build")
	}
	perCombo := 3
	if *full {
		perCombo = len(Kinds)
	}
	specs := Specs(*seed, perCombo)
	t.Logf("%d databases, seed %d", len(specs), *seed)
	for _, s := range specs {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.db")
			if err := s.Write(path); err != nil {
				t.Fatal(err)
			}
			src, err := readSource(path)
			if err != nil {
				t.Fatal(err)
			}
			defer src.conn.Close()
			for _, plain := range []bool{false, true} {
				if err := compare(s, src, path, plain); err != nil {
					t.Errorf("plain %v: %v", plain, err)
				}
			}
		})
	}
}

// compare reads the database at path with the engine and compares all of it with src.
func compare(s Spec, src *source, path string, plain bool) error {
	db, err := sqlitefile.Open(path, &sqlitefile.Options{NoMmap: plain})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.View(ctx, func(rx *sqlitefile.Rx) error {
		c := newComparison(s, src, rx)
		if err := c.check(); err != nil {
			return err
		}
		if err := c.schema(); err != nil {
			return err
		}
		for _, t := range src.tables {
			if err := c.table(t); err != nil {
				return fmt.Errorf("table %s: %w", t.Name, err)
			}
			for _, o := range t.indexes {
				if err := c.index(o); err != nil {
					return fmt.Errorf("index %s: %w", o.name, err)
				}
			}
		}
		return nil
	})
}
