package record

import (
	"math"
	"strconv"
	"testing"
)

func TestParseNumber(t *testing.T) {
	t.Parallel()
	null := Number{}
	integer := func(i int64) Number { return Number{Kind: Integer, Int: i} }
	float := func(f float64) Number { return Number{Kind: Float, Float: f} }
	for s, want := range map[string]Number{
		"": null, " ": null, "+": null, ".": null, "-.": null, "e5": null, "1e": null, "1e+": null, "1x": null, "0x10": null, "1 2": null,
		"1_000": null, "Inf": null, "nan": null, "1\x00": null, "--1": null, "1.2.3": null, "½": null, ".e1": null,
		"0": integer(0), "-0": integer(0), "+7": integer(7), " \t\n\v\f\r12 ": integer(12), "007": integer(7),
		"9223372036854775807": integer(math.MaxInt64), "-9223372036854775808": integer(math.MinInt64),
		"9223372036854775808": float(1 << 63), "123456789012345678901234567890": float(123456789012345678901234567890),
		"1.": float(1), ".5": float(0.5), "-.5e1": float(-5), "1e3": float(1000), "1E-3": float(0.001), "1.e2": float(100),
		"1e999": float(math.Inf(1)), "-1e999": float(math.Inf(-1)), "1e-999": float(0),
	} {
		if got := ParseNumber(s); got != want {
			t.Errorf("%q is %+v, want %+v", s, got, want)
		}
	}
}

func TestAppendFloat(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]string{
		0: "0.0", 1: "1.0", -1.5: "-1.5", 0.1: "0.1", 49.47: "49.47", 100: "100.0", 1e15: "1000000000000000.0", 1e16: "10000000000000000.0",
		1e17: "1.0e+17", 1.5e300: "1.5e+300", 0.0001: "0.0001", 0.00001: "1.0e-05", 1.25e-7: "1.25e-07", 1e-300: "1.0e-300",
		1.0 / 3: "0.33333333333333332", math.Inf(1): "Inf", math.Inf(-1): "-Inf", 1e100: "1.0e+100", 5e-324: "4.9406564584124654e-324", 0.9999999999999999: "0.99999999999999989", 123456.789: "123456.789",
	} {
		if got := string(AppendFloat(nil, f)); got != want {
			t.Errorf("%v is %s, want %s", f, got, want)
		}
	}
}

// FuzzAppendFloat reads back what it wrote.
func FuzzAppendFloat(f *testing.F) {
	for _, x := range []float64{0, 1, -1, 0.1, 1.0 / 3, 1e17, 1e-5, math.MaxFloat64, math.SmallestNonzeroFloat64, 9007199254740993} {
		f.Add(math.Float64bits(x))
	}
	f.Fuzz(func(t *testing.T, bits uint64) {
		x := math.Float64frombits(bits)
		if x != x || math.IsInf(x, 0) {
			return
		}
		s := string(AppendFloat(nil, x))
		if back, err := strconv.ParseFloat(s, 64); err != nil || back != x {
			t.Errorf("%v became %s", x, s)
		}
		if n := ParseNumber(s); n.Kind != Float || n.Float != x {
			t.Errorf("%s is read as %+v", s, n)
		}
	})
}
