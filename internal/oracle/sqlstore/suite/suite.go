// Package suite holds package store/sqlstore to its promises, with whatever driver a test brings.
// Each driver has a test binary of its own, as several register the same name.
package suite

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native"
	"github.com/foliofs/folio/internal/store/sqlstore"
	"github.com/foliofs/folio/internal/store/storetest"
)

// A Driver provides the parts of a test that depend on the driver.
type Driver struct {
	Name string                   // as it is registered with database/sql
	DSN  func(path string) string // nil for the path itself

	// Full returns a driver and a DSN whose connections refuse to let the database grow beyond 60
	// pages.
	Full func(path string) (name, dsn string)
}

// Test runs all tests but TestHolder and TestSync, which must be tests of their own.
func (d *Driver) Test(t *testing.T) {
	t.Run("Bounds", d.testBounds) // alone: those below wait until this function returns
	for name, test := range map[string]func(t *testing.T){
		"Store": d.TestStore, "Folio": d.TestFolio, "Versions": d.TestVersions, "Turns": d.TestTurns, "Damage": d.TestDamage,
		"Refusals": d.TestRefusals, "Limit": d.TestLimit, "NoLog": d.TestNoLog, "NotOurs": d.TestNotOurs, "AddedColumns": d.TestAddedColumns, "Texts": d.TestTexts, "Together": d.TestTogether, "PinAlone": d.TestPinAlone, "PinBusy": d.TestPinBusy, "Release": d.TestRelease, "Memory": d.TestMemory, "Errors": d.TestErrors, "PinAccess": d.testPinAccess, "PinLinks": d.testPinLinks, "History": d.testHistory, "Clones": d.testClones, "FileView": d.testFileView,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

func (d *Driver) dsn(path string) string {
	if d.DSN == nil {
		return path
	}
	return d.DSN(path)
}

// open opens the volume at path, which is closed with the test.
func (d *Driver) open(t testing.TB, path string, o *sqlstore.Options) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.Open(d.Name, d.dsn(path), o)
	must.Do(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestStore runs the conformance suite: it reads volumes that the engine made, and changes volumes
// that SQL made.
func (d *Driver) TestStore(t *testing.T) {
	t.Run("Reading", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(t *testing.T, v *storetest.Volume) store.Store {
			path := filepath.Join(t.TempDir(), "test.folio")
			build(t, path, v)
			return d.open(t, path, nil)
		})
	})
	t.Run("Writing", func(t *testing.T) {
		t.Parallel()
		storetest.RunWriting(t, func(t *testing.T) (store.Store, storetest.Opener) {
			path := filepath.Join(t.TempDir(), "test.folio")
			again := func(t *testing.T) store.Store { return d.open(t, path, &sqlstore.Options{Create: true}) }
			return again(t), again
		})
	})
}

// build makes a volume by the engine.
func build(t testing.TB, path string, v *storetest.Volume) {
	t.Helper()
	must.Do(t, native.Create(context.Background(), path, new(native.CreateOptions), func(b *native.Builder) error { return v.Build(b) }))
}
