// Package figure turns the samples of a cell, a contender in a case, into reliable figures: medians
// with confidence intervals, and tests of whether two of them differ. The statistics come from
// golang.org/x/perf/benchmath, which benchstat uses too. They assume nothing about the distribution
// of samples: the interval is one of order statistics, the test is the U test of Mann and Whitney.
package figure

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"

	"github.com/foliofs/folio/lab/result"
)

// A Figure is something that samples tell.
type Figure struct {
	Name  string // on a command line
	Title string // for people, with the unit of the case where it says %s
	Bench string // its unit in Go's benchmark format
	Unit  Unit
	More  bool // more is better
	// Of is the value of a sample; false where it is not known.
	Of func(m *result.Sample) (float64, bool)
}

// TitleOf is the title for cases with a unit of operations.
func (f *Figure) TitleOf(unit string) string { return strings.ReplaceAll(f.Title, "%s", unit) }

// All are the figures, in the order of tables. The first ranks the contenders.
var All = []*Figure{
	{"rate", "%s/s", "ops/s", Number, true, func(m *result.Sample) (float64, bool) { return m.Rate(), true }},
	latency("p50", func(l *result.Latency) int64 { return int64(l.P50) }),
	latency("p90", func(l *result.Latency) int64 { return int64(l.P90) }),
	latency("p99", func(l *result.Latency) int64 { return int64(l.P99) }),
	latency("max", func(l *result.Latency) int64 { return int64(l.Max) }),
	{"cpu", "processor time a %s", "cpu-ns/op", Nanoseconds, false, cpu},
	perOp("allocs", "allocations a %s", "allocs/op", Number, func(u *result.Use) *int64 { return u.Allocs }),
	perOp("alloc-bytes", "allocated a %s", "B/op", Bytes, func(u *result.Use) *int64 { return u.AllocBytes }),
	known("memory", "peak memory", "peak-B", func(m *result.Sample) *int64 { return m.Use.PeakMemory }),
	perOp("written", "written a %s", "written-B/op", Bytes, func(u *result.Use) *int64 { return u.WrittenBytes }),
	known("size", "size on disk", "disk-B", func(m *result.Sample) *int64 { return m.Size }),
	known("log", "its log", "log-B", func(m *result.Sample) *int64 { return m.Log }),
	{"busy", "refused as busy", "busy", Number, false, func(m *result.Sample) (float64, bool) { return float64(m.Busy), true }},
	{"warm-up", "warm-up", "warm-up-ns", Nanoseconds, false, warmUp},
}

// Find returns a figure by its name.
func Find(name string) (*Figure, error) {
	var names []string
	for _, f := range All {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return nil, fmt.Errorf("no figure %q; there are %s", name, strings.Join(names, ", "))
}

// Named returns figures by their names, which are right.
func Named(names ...string) []*Figure {
	list := slices.Clone(All)
	return slices.DeleteFunc(list, func(f *Figure) bool { return !slices.Contains(names, f.Name) })
}

// enoughTimes is how many operations of a sample must have been timed for a distribution.
const enoughTimes = 10

func latency(name string, of func(l *result.Latency) int64) *Figure {
	return &Figure{name, name, name + "-ns", Nanoseconds, false, func(m *result.Sample) (float64, bool) {
		return float64(of(&m.Latency)), m.Latency.Timed >= enoughTimes
	}}
}

func known(name, title, bench string, of func(m *result.Sample) *int64) *Figure {
	return &Figure{name, title, bench, Bytes, false, func(m *result.Sample) (float64, bool) {
		if n := of(m); n != nil {
			return float64(*n), true
		}
		return 0, false
	}}
}

func perOp(name, title, bench string, unit Unit, of func(u *result.Use) *int64) *Figure {
	f := known(name, title, bench, func(m *result.Sample) *int64 { return of(&m.Use) })
	all := f.Of
	f.Unit, f.Of = unit, func(m *result.Sample) (float64, bool) {
		x, ok := all(m)
		return x / float64(m.Ops), ok
	}
	return f
}

func cpu(m *result.Sample) (float64, bool) {
	user, system := m.Use.UserSeconds, m.Use.SystemSeconds
	if user == nil || system == nil {
		return 0, false
	}
	return (*user + *system) * 1e9 / float64(m.Ops), true
}

func warmUp(m *result.Sample) (float64, bool) { return m.WarmUp.Seconds * 1e9, m.WarmUp.Ops > 0 }

// Values returns a figure of all samples that have it. It leaves out a value that is not a number,
// which only a damaged file has.
func (f *Figure) Values(samples []*result.Sample) []float64 {
	var out []float64
	for _, m := range samples {
		if x, ok := f.Of(m); ok && !math.IsNaN(x) && !math.IsInf(x, 0) {
			out = append(out, x)
		}
	}
	return out
}

// A Unit is how values are written.
type Unit string

// The units.
const (
	Number      Unit = ""
	Nanoseconds Unit = "s"
	Bytes       Unit = "B"
)

// Format writes a value with a prefix of its size, as benchstat does: 12.3k, 1.50µs, 4.00KiB. Small
// counts are written as they are.
func (u Unit) Format(x float64) string {
	switch {
	case u == Number && math.Abs(x) < 1 || x == math.Trunc(x) && math.Abs(x) < 1000 && u != Nanoseconds:
		return strconv.FormatFloat(x, 'g', 3, 64) + string(u)
	case u == Bytes:
		return benchunit.Scale(x, benchunit.Binary) + "B"
	case u == Nanoseconds:
		x /= 1e9
	}
	return benchunit.Scale(x, benchunit.Decimal) + string(u)
}
