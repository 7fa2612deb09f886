// Package figure turns the samples of a cell, a contender in a case, into reliable figures: medians
// with confidence intervals, and tests of whether two of them differ. The statistics come from
// golang.org/x/perf/benchmath, which benchstat uses too. They assume nothing about the distribution
// of samples: the interval is one of order statistics, the test is the U test of Mann and Whitney.
package figure

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/foliofs/folio/lab/result"
)

// A Figure is something that samples tell.
type Figure struct {
	Name  string // on a command line
	Title string // for people, with the unit of the case where it says %s
	Unit  Unit
	More  bool // more is better
	// Of is the value of a sample; false where it is not known.
	Of func(m *result.Sample) (float64, bool)
}

// TitleOf is the title for cases with a unit of operations.
func (f *Figure) TitleOf(unit string) string { return strings.ReplaceAll(f.Title, "%s", unit) }

// All are the figures, in the order in which they are shown. The first ranks the contenders.
var All = []*Figure{
	{Name: "rate", Title: "%s/s", Unit: Number, More: true, Of: func(m *result.Sample) (float64, bool) { return m.Rate(), true }},
	{Name: "p50", Title: "p50", Unit: Nanoseconds, Of: latency(func(l *result.Latency) time.Duration { return l.P50 })},
	{Name: "p90", Title: "p90", Unit: Nanoseconds, Of: latency(func(l *result.Latency) time.Duration { return l.P90 })},
	{Name: "p99", Title: "p99", Unit: Nanoseconds, Of: latency(func(l *result.Latency) time.Duration { return l.P99 })},
	{Name: "max", Title: "max", Unit: Nanoseconds, Of: latency(func(l *result.Latency) time.Duration { return l.Max })},
	{Name: "cpu", Title: "processor time a %s", Unit: Nanoseconds, Of: cpu},
	{Name: "allocs", Title: "allocations a %s", Unit: Number, Of: perOp(func(u *result.Use) *int64 { return u.Allocs })},
	{Name: "alloc-bytes", Title: "allocated a %s", Unit: Bytes, Of: perOp(func(u *result.Use) *int64 { return u.AllocBytes })},
	{Name: "memory", Title: "peak memory", Unit: Bytes, Of: known(func(m *result.Sample) *int64 { return m.Use.PeakMemory })},
	{Name: "written", Title: "written a %s", Unit: Bytes, Of: perOp(func(u *result.Use) *int64 { return u.WrittenBytes })},
	{Name: "size", Title: "size on disk", Unit: Bytes, Of: known(func(m *result.Sample) *int64 { return m.Size })},
	{Name: "log", Title: "its log", Unit: Bytes, Of: known(func(m *result.Sample) *int64 { return m.Log })},
	{Name: "busy", Title: "refused as busy", Unit: Number, Of: func(m *result.Sample) (float64, bool) { return float64(m.Busy), true }},
	{Name: "warm-up", Title: "warm-up", Unit: Nanoseconds, Of: warmUp},
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

// EnoughTimes is how many operations of a sample must have been timed for a distribution.
const EnoughTimes = 10

func latency(of func(l *result.Latency) time.Duration) func(m *result.Sample) (float64, bool) {
	return func(m *result.Sample) (float64, bool) { return float64(of(&m.Latency)), m.Latency.Timed >= EnoughTimes }
}

func known(of func(m *result.Sample) *int64) func(m *result.Sample) (float64, bool) {
	return func(m *result.Sample) (float64, bool) {
		if n := of(m); n != nil {
			return float64(*n), true
		}
		return 0, false
	}
}

func perOp(of func(u *result.Use) *int64) func(m *result.Sample) (float64, bool) {
	return func(m *result.Sample) (float64, bool) {
		if n := of(&m.Use); n != nil {
			return float64(*n) / float64(m.Ops), true
		}
		return 0, false
	}
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
