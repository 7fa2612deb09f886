package value

import (
	"math"
	"testing"
)

func TestHumanSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0", 1: "1", 1023: "1023", 1024: "1.0K", 1025: "1.1K", 1536: "1.5K", 10 << 10: "10K", 10<<10 + 1: "11K",
		1<<20 - 1: "1.0M", 999 << 10: "999K", 5 << 30: "5.0G", math.MaxInt64: "8.0E",
	} {
		if got := HumanSize(n); got != want {
			t.Errorf("humanSize(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestBinarySize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1023: "1023 B", 1024: "1.0 KiB", 1_048_524: "1023.9 KiB", 1_048_525: "1.0 MiB", 144_074_342: "137.4 MiB",
		math.MaxInt64: "8.0 EiB",
	} {
		if got := BinarySize(n); got != want {
			t.Errorf("BinarySize(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestParseSize(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int64{
		"0": 0, "12": 12, "1K": 1 << 10, "3m": 3 << 20, "10G": 10 << 30, "2T": 2 << 40, "7E": 7 << 60,
		"": -1, "K": -1, "-1": -1, "1.5G": -1, "8E": -1, "1KB": -1, "99999999999999999999": -1,
	} {
		if got, err := ParseSize(s); got != max(want, 0) || (err != nil) != (want < 0) {
			t.Errorf("parseSize(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
}

func TestGrouped(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := Grouped(n); got != want {
			t.Errorf("grouped(%d) = %s, want %s", n, got, want)
		}
	}
}
