package record

import (
	"bytes"
	"math"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/foliofs/folio/internal/format"
)

// TestValue reads each kind of value in every way.
func TestValue(t *testing.T) {
	t.Parallel()
	utf16 := OfTextIn(UTF16Of([]byte("né\U0001f600"), format.UTF16BE), format.UTF16BE)
	for _, c := range []struct {
		v     Value
		kind  Kind
		num   int64
		real  float64
		text  string
		any   any
		words string
	}{
		{null(), Null, 0, 0, "", nil, "NULL"},
		{float(math.NaN()), Null, 0, 0, "", nil, "NULL"},
		{integer(-7), Integer, -7, -7, "", int64(-7), "-7"},
		{integer(math.MaxInt64), Integer, math.MaxInt64, 1 << 63, "", int64(math.MaxInt64), "9223372036854775807"},
		{float(-2.75), Float, -2, -2.75, "", -2.75, "-2.75"},
		{float(1e300), Float, math.MaxInt64, 1e300, "", 1e300, "1e+300"},
		{float(-1e300), Float, math.MinInt64, -1e300, "", -1e300, "-1e+300"},
		{float(math.Inf(1)), Float, math.MaxInt64, math.Inf(1), "", math.Inf(1), "+Inf"},
		{float(1 << 63), Float, math.MaxInt64, 1 << 63, "", float64(1 << 63), "9.223372036854776e+18"},
		{float(-1 << 63), Float, math.MinInt64, -1 << 63, "", float64(-1 << 63), "-9.223372036854776e+18"},
		{text("12"), Text, 0, 0, "12", "12", "12"},
		{utf16, Text, 0, 0, "né\U0001f600", "né\U0001f600", "né\U0001f600"},
		{blob("\x01\xff"), Blob, 0, 0, "\x01\xff", []byte{1, 0xff}, "x'01ff'"},
	} {
		v := c.v
		if v.Kind() != c.kind || v.Int64() != c.num || v.Float64() != c.real || v.Text() != c.text || v.String() != c.words {
			t.Errorf("%v: %v, %d, %g, %q", v, v.Kind(), v.Int64(), v.Float64(), v.Text())
		}
		if !reflect.DeepEqual(v.Any(), c.any) {
			t.Errorf("%v: Any %#v, want %#v", v, v.Any(), c.any)
		}
	}
}

// TestValueCopies holds Any to give bytes of its own.
func TestValueCopies(t *testing.T) {
	t.Parallel()
	v := blob("abc")
	b := v.Any().([]byte)
	b[0] = 'x'
	if string(v.Bytes()) != "abc" {
		t.Error("Any shares the bytes of the database")
	}
	if e := blob(""); e.Any().([]byte) == nil {
		t.Error("an empty BLOB becomes nil, which is NULL")
	}
}

func TestKindString(t *testing.T) {
	t.Parallel()
	for k, want := range map[Kind]string{Null: "NULL", Integer: "INTEGER", Float: "REAL", Text: "TEXT", Blob: "BLOB"} {
		if k.String() != want {
			t.Errorf("%d is %s, want %s", k, k, want)
		}
	}
}

// TestUTF16 converts both ways.
func TestUTF16(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a", "é\u20ac", "\U0001f600x", "\ufffd", "\x00"} {
		for _, enc := range []format.Encoding{format.UTF16LE, format.UTF16BE} {
			if got := UTF8Of(UTF16Of([]byte(s), enc), enc); string(got) != s {
				t.Errorf("%q becomes %q", s, got)
			}
		}
	}
	for in, want := range map[string]string{
		"\x00a\x00":            "a",       // an odd last byte
		"\xd8\x3d":             "\ufffd",  // half a pair
		"\xde\x00\x00a":        "\ufffda", // the wrong half
		"\xd8\x3d\xd8\x3d\x00": "\ufffd\ufffd",
	} {
		v := OfTextIn([]byte(in), format.UTF16BE)
		if got := v.Text(); got != want || !utf8.ValidString(got) {
			t.Errorf("%x reads as %q, want %q", in, got, want)
		}
	}
	if !bytes.Equal(UTF16Of([]byte("a"), format.UTF16LE), []byte("a\x00")) {
		t.Error("UTF-16le is not little-endian")
	}
}

// TestDecode takes each serial type.
func TestDecode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		t    format.SerialType
		b    string
		want any
	}{
		{0, "", nil},
		{1, "\xff", int64(-1)},
		{2, "\x80\x00", int64(-32768)},
		{3, "\x7f\xff\xff", int64(1<<23 - 1)},
		{4, "\x80\x00\x00\x00", int64(math.MinInt32)},
		{5, "\x80\x00\x00\x00\x00\x00", int64(-1 << 47)},
		{6, "\x80\x00\x00\x00\x00\x00\x00\x00", int64(math.MinInt64)},
		{7, "\x3f\xf8\x00\x00\x00\x00\x00\x00", 1.5},
		{7, "\x7f\xf8\x00\x00\x00\x00\x00\x01", nil}, // not a number
		{8, "", int64(0)},
		{9, "", int64(1)},
		{10, "", nil},
		{11, "", nil},
		{12, "", []byte{}},
		{13, "", ""},
		{16, "ab", []byte("ab")},
		{17, "ab", "ab"},
	} {
		v := Decode(c.t, []byte(c.b), format.UTF8)
		if got := v.Any(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("serial type %d of %x is %#v, want %#v", c.t, c.b, got, c.want)
		}
	}
}
