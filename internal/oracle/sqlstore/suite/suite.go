// Package suite holds package store/sqlstore to its promises, with whatever driver a test brings.
// Each driver has a test binary of its own, as several register the same name.
package suite

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native"
	"github.com/foliofs/folio/internal/store/sqlstore"
	"github.com/foliofs/folio/internal/store/storetest"
)

// A Driver provides the parts of a test that depend on the driver.
type Driver struct {
	Name string // as it is registered with database/sql; its DSN is a path

	// Full returns a driver and a DSN whose connections refuse to let the database grow beyond 60
	// pages.
	Full func(path string) (name, dsn string)
}

// Test runs all tests except TestRoots, TestHolder and TestSync, which must be tests of their own.
func (d *Driver) Test(t *testing.T) {
	for name, test := range map[string]func(t *testing.T){
		"Store": d.testStore, "Damage": d.testDamage, "Refusals": d.testRefusals,
		"Texts": d.testTexts, "Errors": d.testErrors,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// Open opens a store at path and closes it with the test.
func (d *Driver) Open(t testing.TB, path string, o *sqlstore.Options) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.Open(d.Name, path, o)
	must.Do(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Volume opens a volume, which it makes if need be, and closes it with the test.
func (d *Driver) Volume(t testing.TB, path string) *folio.Volume {
	t.Helper()
	v, err := folio.OpenStore(private.Key{}, d.Open(t, path, &sqlstore.Options{Create: true}), nil)
	must.Do(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// testStore runs the conformance suite: it reads volumes that the engine made, and changes volumes
// that SQL made.
func (d *Driver) testStore(t *testing.T) {
	t.Run("Reading", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(t *testing.T, v *storetest.Volume) store.Store {
			path := filepath.Join(t.TempDir(), "test.folio")
			build(t, path, v)
			return d.Open(t, path, nil)
		})
	})
	t.Run("Writing", func(t *testing.T) {
		t.Parallel()
		storetest.RunWriting(t, func(t *testing.T) (store.Store, storetest.Opener) {
			path := filepath.Join(t.TempDir(), "test.folio")
			again := func(t *testing.T) store.Store { return d.Open(t, path, &sqlstore.Options{Create: true}) }
			return again(t), again
		})
	})
}

// build makes a volume by the engine.
func build(t testing.TB, path string, v *storetest.Volume) {
	t.Helper()
	must.Do(t, native.Create(context.Background(), path, new(native.CreateOptions), func(b *native.Builder) error { return v.Build(b) }))
}
