package figure

import (
	"math"
	"testing"

	"github.com/foliofs/folio/lab/result"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		unit Unit
		x    float64
		want string
	}{
		{Number, 0, "0"},
		{Number, 1, "1"},
		{Number, 12.345, "12.3"},
		{Number, 0.01234, "0.0123"},
		{Number, 0.000012, "1.20e-05"},
		{Number, 999.6, "1.00 k"},
		{Number, 1234567, "1.23 M"},
		{Number, 1e300, "1.00e+288 T"},
		{Number, -1234, "-1.23 k"},
		{Nanoseconds, 0.5, "0.500 ns"},
		{Nanoseconds, 1500, "1.50 µs"},
		{Nanoseconds, 90e9, "1.50 min"},
		{Nanoseconds, math.MaxInt64, "2.56e+06 h"},
		{Bytes, 0, "0"},
		{Bytes, 100, "100 B"},
		{Bytes, 1536, "1.50 KiB"},
		{Bytes, 1 << 50, "1024 TiB"},
	} {
		if got := tt.unit.Format(tt.x); got != tt.want {
			t.Errorf("%v of %s is %q, want %q", tt.x, tt.unit, got, tt.want)
		}
	}
	for text, want := range map[string]string{"": "", "100": "100", "1000": "1000", "10000": "10\u202f000", "6000000": "6\u202f000\u202f000", "goroot": "goroot", "123-45": "123-45"} {
		if got := Thousands(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// An interval needs six samples; with fewer the range is given, and said to be that.
func TestOf(t *testing.T) {
	t.Parallel()
	if _, ok := Of(nil); ok {
		t.Error("nothing has a median")
	}
	for _, tt := range []struct {
		values []float64
		want   Estimate
	}{
		{[]float64{5}, Estimate{N: 1, Median: 5, Lo: 5, Hi: 5}},
		{[]float64{3, 1, 2}, Estimate{N: 3, Median: 2, Lo: 1, Hi: 3}},
		{[]float64{6, 5, 4, 3, 2, 1}, Estimate{N: 6, Median: 3.5, Lo: 1, Hi: 6, Interval: true}},
	} {
		if got, ok := Of(tt.values); !ok || got != tt.want {
			t.Errorf("%v: %+v, want %+v", tt.values, got, tt.want)
		}
	}
}

func TestEnough(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n, m int
		want bool
	}{{0, 10, false}, {1, 1, false}, {2, 2, false}, {3, 3, false}, {4, 4, true}, {1, 40, true}, {2, 10, true}, {10, 10, true}} {
		if got := Enough(tt.n, tt.m); got != tt.want {
			t.Errorf("%d and %d samples: %v", tt.n, tt.m, got)
		}
	}
}

// The example of the paper by Benjamini and Hochberg: of 15 differences, four remain.
func TestAdjust(t *testing.T) {
	t.Parallel()
	p := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000}
	left := 0
	for i, adjusted := range Adjust(p) {
		if adjusted < p[i] || adjusted > 1 {
			t.Errorf("%v becomes %v", p[i], adjusted)
		}
		if adjusted <= 0.05 {
			left++
		}
	}
	if left != 4 {
		t.Errorf("%d are left", left)
	}
	if len(Adjust(nil)) != 0 {
		t.Error("nothing becomes something")
	}
}

// A value that is not a number is left out, and no figure is made without values.
func TestValues(t *testing.T) {
	t.Parallel()
	n, seconds := int64(7), 0.5
	good := &result.Sample{Ops: 10, Seconds: 1, Use: result.Use{Allocs: &n, UserSeconds: &seconds, SystemSeconds: &seconds}}
	bad := &result.Sample{}
	for name, want := range map[string]int{"rate": 1, "p99": 0, "cpu": 1, "allocs": 1, "memory": 0, "busy": 2} {
		f, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(f.Values([]*result.Sample{good, bad})); got != want {
			t.Errorf("%s: %d values, want %d", name, got, want)
		}
	}
	if _, err := Find("colour"); err == nil {
		t.Error("there is a figure colour")
	}
}
