package figure

import (
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
		{Number, 12.345, "12.35"},
		{Number, 0.01234, "0.0123"},
		{Number, 0.000012, "1.2e-05"},
		{Number, 999.6, "999.6"},
		{Number, 1234567, "1.235M"},
		{Number, -1234, "-1.234k"},
		{Nanoseconds, 0.5, "0.5000ns"},
		{Nanoseconds, 1500, "1.500µs"},
		{Nanoseconds, 90e9, "90.00s"},
		{Bytes, 0, "0B"},
		{Bytes, 100, "100B"},
		{Bytes, 1536, "1.500KiB"},
		{Bytes, 1 << 50, "1024.0TiB"},
	} {
		if got := tt.unit.Format(tt.x); got != tt.want {
			t.Errorf("%v of %s is %q, want %q", tt.x, tt.unit, got, tt.want)
		}
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	if _, ok := Of(nil); ok {
		t.Error("nothing has a median")
	}
	for _, tt := range []struct {
		values []float64
		median float64
		spread string
	}{
		{[]float64{5}, 5, ""},
		{[]float64{3, 1, 2}, 2, ""},
		{[]float64{6, 5, 4, 3, 2, 1}, 3.5, " ± 71%"},
	} {
		if got, ok := Of(tt.values); !ok || got.Median != tt.median || got.Spread() != tt.spread {
			t.Errorf("%v: %+v, want %v, %s", tt.values, got, tt.median, tt.spread)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	rate, p50 := All[0], All[1]
	low, high := []float64{10, 11, 12, 13, 14}, []float64{20, 21, 22, 23, 24}
	for _, tt := range []struct {
		f     *Figure
		a, b  []float64
		least float64
		want  Verdict
	}{
		{rate, low, high, 0.05, Better},
		{rate, high, low, 0.05, Worse},
		{p50, low, high, 0.05, Worse},
		{rate, low, high, 1, Same},         // it is less than twice
		{rate, low[:2], high[:2], 0, Same}, // too few samples
		{rate, low, low, 0, Same},
	} {
		if d := tt.f.Compare(tt.a, tt.b, tt.least, 1); d.Verdict != tt.want {
			t.Errorf("%s of %v and %v: %v, want %s", tt.f.Name, tt.a, tt.b, d, tt.want)
		}
	}
	if d := rate.Compare(low, high, 0, 10); d.Verdict != Same {
		t.Errorf("one of ten tests: %v", d)
	}
}

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
