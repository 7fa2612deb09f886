package figure

import (
	"fmt"
	"math"
)

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

// Compare compares samples of two runs in one of some tests. They differ if the U test tells them
// apart, after the correction of Bonferroni for the number of tests, and if their medians differ by
// at least a share.
func (f *Figure) Compare(a, b []float64, least float64, tests int) Difference {
	d := Difference{P: min(1, P(a, b)*float64(tests)), Verdict: Same}
	d.A, _ = Of(a) // both have values
	d.B, _ = Of(b)
	switch change := math.Abs(d.B.Median - d.A.Median); {
	case d.P > Alpha || change == 0 || change < least*d.A.Median:
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
