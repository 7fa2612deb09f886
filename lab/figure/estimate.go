package figure

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"golang.org/x/perf/benchmath"
)

// confidence is the confidence of all intervals, and alpha the level of all tests.
const (
	confidence = 0.95
	alpha      = 1 - confidence
)

// Samples is how many a figure should be made of. Fewer may do for an interval, or a difference,
// but not for a small one.
const Samples = 10

// Count says of how many samples a figure is made, and how many it should be if that is more.
func Count(n int) string {
	if n < Samples {
		return fmt.Sprintf("%d of %d", n, Samples)
	}
	return strconv.Itoa(n)
}

// An Estimate is a median, and how far it can be trusted. Lo and Hi are its interval, or infinite
// if there are too few samples for one.
type Estimate struct{ Median, Lo, Hi float64 }

// Of estimates from values; false if there are none.
func Of(values []float64) (Estimate, bool) {
	if len(values) == 0 {
		return Estimate{}, false
	}
	s := benchmath.AssumeNothing.Summary(sample(values), confidence)
	return Estimate{s.Center, s.Lo, s.Hi}, true
}

// Spread writes the interval as a share of the median, for example " ± 2%"; "" if there is none, or
// if the median is 0.
func (e Estimate) Spread() string {
	if math.IsInf(e.Lo, 0) || math.IsInf(e.Hi, 0) || e.Median == 0 {
		return ""
	}
	return fmt.Sprintf(" ± %.0f%%", 100*max(e.Hi-e.Median, e.Median-e.Lo)/e.Median)
}

// sample copies values, because benchmath sorts them.
func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.Thresholds{CompareAlpha: alpha})
}

// A Verdict says whether a second run is better than a first one.
type Verdict string

// The verdicts.
const (
	Same   Verdict = "no difference"
	Better Verdict = "better"
	Worse  Verdict = "worse"
)

// A Difference compares the samples of two runs.
type Difference struct {
	A, B    Estimate
	P       float64 // of the U test, adjusted for the number of tests
	Verdict Verdict
}

// Compare compares samples of two runs; neither may be empty. The runs differ if the U test tells
// the samples apart, after the correction of Bonferroni for the number of tests, and if their
// medians differ by at least a share: a difference of 1% can be certain, and matter to nobody.
func (f *Figure) Compare(a, b []float64, least float64, tests int) Difference {
	p := benchmath.AssumeNothing.Compare(sample(a), sample(b)).P
	d := Difference{P: min(1, p*float64(tests)), Verdict: Same}
	d.A, _ = Of(a)
	d.B, _ = Of(b)
	switch change := math.Abs(d.B.Median - d.A.Median); {
	case d.P > alpha || change == 0 || change < least*d.A.Median:
	case (d.B.Median > d.A.Median) == f.More:
		d.Verdict = Better
	default:
		d.Verdict = Worse
	}
	return d
}

// String says the verdict, and how much the median has changed.
func (d Difference) String() string {
	if d.Verdict == Same || d.A.Median == 0 {
		return string(d.Verdict)
	}
	return fmt.Sprintf("%+.0f%%, %s", 100*(d.B.Median/d.A.Median-1), d.Verdict)
}
