// Package bench has benchmarks for the tests of package claim.
package bench

import (
	"os"
	"testing"
	"time"
)

// BenchmarkGood has two sides.
func BenchmarkGood(b *testing.B) {
	b.Run("ours", func(b *testing.B) { time.Sleep(time.Microsecond) })
	b.Run("theirs", func(b *testing.B) { time.Sleep(time.Microsecond) })
}

// BenchmarkFails has a side that finds something else than the other.
func BenchmarkFails(b *testing.B) {
	b.Run("ours", func(*testing.B) {})
	b.Run("theirs", func(b *testing.B) { b.Fatal("it has 1 line to show, the other side 2") })
}

// BenchmarkLacks has a side whose program is not installed.
func BenchmarkLacks(b *testing.B) {
	b.Run("ours", func(*testing.B) {})
	b.Run("theirs", func(b *testing.B) {
		_, err := os.Stat("/no/such/program")
		b.Skip(err)
	})
}
