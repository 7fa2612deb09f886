package record

import (
	"bytes"
	"math"
	"testing"

	"github.com/foliofs/folio/internal/format"
)

// testRecord makes the record of nil, integers, floats, texts and BLOBs.
func testRecord(values ...any) []byte {
	out := make([]Value, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case int:
			out[i] = OfInt(int64(v))
		case int64:
			out[i] = OfInt(v)
		case float64:
			out[i] = OfFloat(v)
		case string:
			out[i] = OfTextIn([]byte(v), format.UTF8)
		case []byte:
			out[i] = OfBlob(v)
		}
	}
	return Append(nil, out...)
}

// orderedValues are in SQLite's order, the values of one line equal in it. NOCASE and RTRIM only
// make fewer differences.
var orderedValues = [][]any{
	{nil, math.NaN()},
	{math.Inf(-1)},
	{-math.MaxFloat64},
	{-1e19},
	{int64(math.MinInt64), float64(math.MinInt64)},
	{int64(math.MinInt64 + 1)},
	{int64(math.MinInt64 + 1025)},
	{float64(-1<<53 - 2), int64(-1<<53 - 2)},
	{int64(-1<<53 - 1)},
	{int64(-1 << 53), float64(-1 << 53)},
	{int64(-1<<53 + 1)},
	{int64(-1 << 40)},
	{-1000},
	{-1.0000000001},
	{-1, -1.0},
	{-0.9999999999},
	{-math.SmallestNonzeroFloat64},
	{0, 0.0, math.Copysign(0, -1)},
	{math.SmallestNonzeroFloat64},
	{1e-300},
	{0.1},
	{1, 1.0},
	{1.0000000001},
	{1.5},
	{2},
	{127},
	{128},
	{int64(1 << 36)},
	{int64(1<<36 + 1)},
	{float64(1<<36) + 1.5},
	{int64(1 << 40)},
	{int64(1 << 47)},
	{int64(1<<53 - 1)},
	{int64(1 << 53), float64(1 << 53)},
	{int64(1<<53 + 1)},
	{int64(1<<53 + 2), float64(1<<53 + 2)},
	{int64(1<<54 - 1)},
	{int64(1 << 54)},
	{int64(math.MaxInt64 - 600)},
	{int64(math.MaxInt64 - 1)},
	{int64(math.MaxInt64)},
	{float64(math.MaxInt64)},
	{1e19},
	{math.MaxFloat64},
	{math.Inf(1)},
	{""},
	{"\x00"},
	{"\x00\x00"},
	{"\x00a"},
	{"abcde"},
	{"abcdef"},
	{"abcdef\x00"},
	{"abcdefg"},
	{"abcdefgh"},
	{"abcdefghijklm"},
	{"abcdefghijklm\x00"},
	{"abcdefghijklmn"},
	{"abcdefghijklmno"},
	{"abcdefghijklmnop"},
	{"b"},
	{"\xff"},
	{"\xff\xff\xff\xff\xff\xff\xff\xff\xff"},
	{[]byte{}},
	{[]byte{0}},
	{[]byte("abcdef")},
	{[]byte("abcdefghijklmnop")},
	{bytes.Repeat([]byte{255}, 20)},
}

func TestKeyOrder(t *testing.T) {
	t.Parallel()
	o := Order{{}}
	for i, a := range orderedValues {
		for j, b := range orderedValues {
			for _, x := range a {
				for _, y := range b {
					checkOrder(t, o, testRecord(x), testRecord(y), i-j)
				}
			}
		}
	}
}

// checkOrder compares two records, with all columns in both directions, by themselves and by their
// words.
func checkOrder(t *testing.T, o Order, a, b []byte, want int) {
	t.Helper()
	for _, desc := range []bool{false, true} {
		for i := range o {
			o[i].Desc = desc
		}
		if got := o.Compare(a, b); sign(got) != sign(want) {
			t.Errorf("%x and %x compare as %d, want %d (DESC %v)", a, b, got, want, desc)
		}
		if got := compareByWords(o, a, b); got != sign(want) {
			t.Errorf("the words of %x and %x compare as %d, want %d (DESC %v)", a, b, got, want, desc)
		}
		want = -want
	}
}

func sign(n int) int { return max(-1, min(n, 1)) }

// compareByWords compares all words of two records.
func compareByWords(o Order, a, b []byte) int {
	for p := (WordPlace{}); p.Col < len(o); {
		x, y := o.Word(a, p), o.Word(b, p)
		if x != y {
			if x < y {
				return -1
			}
			return 1
		}
		p = p.After(x, o[p.Col].Desc)
	}
	return 0
}

// FuzzKeyOrder compares two texts under each collation by themselves and by words.
func FuzzKeyOrder(f *testing.F) {
	f.Add([]byte("abc"), []byte("ABC"), int64(1), 1.0)
	f.Add([]byte("abcdefg  "), []byte("abcdefg"), int64(1<<53+1), float64(1<<53))
	f.Add([]byte("aB\x00x"), []byte("Ab\x00yz"), int64(-1<<62), -1.5)
	f.Add([]byte("abcdef\x00ghi"), []byte("ABCDEF"), int64(math.MaxInt64), float64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, a, b []byte, i int64, x float64) {
		records := [][]byte{
			testRecord(string(a), i), testRecord(string(b), i), testRecord(string(a), x), testRecord(a, i), testRecord(i, a),
			testRecord(x, b), testRecord(-x, b), testRecord(i, b), testRecord(i-1, b), testRecord(float64(i), a), testRecord(nil, a),
		}
		for c := Binary; c < UnknownCollation; c++ {
			for _, r := range records {
				for _, s := range records {
					o := Order{{Collation: c}, {Collation: c}}
					checkOrder(t, o, r, s, o.Compare(r, s))
				}
			}
		}
	})
}
