package figure

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"golang.org/x/perf/benchmath"
)

// Confidence is the confidence of all intervals, and Alpha the level of all tests.
const (
	Confidence = 0.95
	Alpha      = 1 - Confidence
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

// An Estimate is a median, and how far it can be trusted.
type Estimate struct {
	N        int     `json:"n"` // samples
	Median   float64 `json:"median"`
	Lo       float64 `json:"lo"`
	Hi       float64 `json:"hi"`
	Interval bool    `json:"interval"` // Lo and Hi are a confidence interval; if not, samples were too few, and these are the least and the most
}

// Of estimates from values; false if there are none.
func Of(values []float64) (Estimate, bool) {
	if len(values) == 0 {
		return Estimate{}, false
	}
	s := benchmath.AssumeNothing.Summary(sample(values), Confidence)
	e := Estimate{N: len(values), Median: s.Center, Lo: s.Lo, Hi: s.Hi, Interval: true}
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		e.Lo, e.Hi, e.Interval = slices.Min(values), slices.Max(values), false
	}
	return e, true
}

// sample copies values, because benchmath sorts them.
func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.Thresholds{CompareAlpha: Alpha})
}

// P is the probability that samples which do not differ look at least as different as these.
func P(a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 1
	}
	return benchmath.AssumeNothing.Compare(sample(a), sample(b)).P
}

// FormatP writes a probability.
func FormatP(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}
