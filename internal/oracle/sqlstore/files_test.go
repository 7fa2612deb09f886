package sqlstore_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
)

// benchmarkFiles reads and writes small files one by one, through the engine and through SQL.
func benchmarkFiles(b *testing.B, d *suite.Driver) {
	for name, open := range map[string]func(path string) *folio.Volume{
		"native": func(path string) *folio.Volume {
			v, err := folio.Open(path, &folio.Options{Create: true})
			must.Do(b, err)
			b.Cleanup(func() { _ = v.Close() })
			return v
		},
		"sqlstore": func(path string) *folio.Volume { return d.Volume(b, path) },
	} {
		b.Run(name, func(b *testing.B) { benchmarkVolume(b, open(filepath.Join(b.TempDir(), "bench.folio"))) })
	}
}

// benchFiles is how many files there are in each of as many directories.
const benchFiles = 40

func benchName(i int) string { return fmt.Sprintf("%02d/%02d", i/benchFiles%benchFiles, i%benchFiles) }

func benchmarkVolume(b *testing.B, v *folio.Volume) {
	content := bytes.Repeat([]byte("x"), 1000)
	must.Do(b, v.Update(context.Background(), func(tx *folio.Tx) error {
		for i := range benchFiles * benchFiles {
			if err := tx.MkdirAll(benchName(i)[:2], 0o755); err != nil {
				return err
			}
			if err := tx.WriteFile(benchName(i), content, 0o644); err != nil {
				return err
			}
		}
		return nil
	}))
	each := func(name string, fn func(i int) error) {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				must.Do(b, fn(i*7919))
			}
		})
	}
	each("Stat", func(i int) error { _, err := v.Stat(benchName(i)); return err })
	each("ReadFile", func(i int) error {
		p, err := v.ReadFile(benchName(i))
		if err == nil && !bytes.Equal(p, content) {
			err = fmt.Errorf("%s has another content", benchName(i))
		}
		return err
	})
	each("WriteFile", func(i int) error { return v.WriteFile(benchName(i), content, 0o644) })
	each("Create", func(i int) error { return v.WriteFile(fmt.Sprint("new", i), content, 0o644) })
}
