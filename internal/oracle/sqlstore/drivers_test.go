// Package sqlstore_test checks package store/sqlstore, and the schema of a volume in SQL, where the
// driver makes no difference: with C SQLite, and with SQLite in Go. The packages below it run the
// two conformance suites with each driver.
package sqlstore_test

import (
	"flag"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
)

var steps = flag.Int("sqlstore.steps", 1500, "statements and calls of each random test")

// drivers are two whose names differ, so that one program can have both.
var drivers = []*suite.Driver{{Name: "sqlite"}}

// eachDriver runs a test with each driver, next to other tests.
func eachDriver(t *testing.T, fn func(t *testing.T, d *suite.Driver)) {
	t.Parallel()
	for _, d := range drivers {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			fn(t, d)
		})
	}
}

func BenchmarkDrivers(b *testing.B) {
	for _, d := range drivers {
		b.Run(d.Name+"/Walk", func(b *testing.B) { benchmarkWalk(b, d) })
		b.Run(d.Name+"/Files", func(b *testing.B) { benchmarkFiles(b, d) })
		b.Run(d.Name+"/FileView", func(b *testing.B) { benchmarkFileView(b, d) })
	}
}
