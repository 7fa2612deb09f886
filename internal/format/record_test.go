package format

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A value is a value of a record, decoded by its serial type: nil, int64, float64, string or
// []byte.
type value any

// parseRecord decodes a whole record. It is not ok if a value runs past the end or has a type that
// no file holds.
func parseRecord(payload []byte) (types []SerialType, values []value, ok bool) {
	header, at, ok := RecordHeader(payload)
	if !ok {
		return nil, nil, false
	}
	for len(header) > 0 {
		v, n := Varint(header)
		if n == 0 {
			return nil, nil, false
		}
		header = header[n:]
		t := SerialType(v)
		if t == 10 || t == 11 || t.Size() > uint64(len(payload)-at) {
			return nil, nil, false
		}
		types = append(types, t)
		values = append(values, parseValue(t, payload[at:at+int(t.Size())]))
		at += int(t.Size())
	}
	return types, values, true
}

func parseValue(t SerialType, b []byte) value {
	switch {
	case t == SerialNull:
		return nil
	case t.IsInt():
		return t.Int(b)
	case t == SerialFloat:
		return Float(b)
	case t.IsText():
		return string(b)
	}
	return b
}

// appendRecord encodes a record.
func appendRecord(b []byte, types []SerialType, values []value) []byte {
	b = AppendRecordHeader(b, types...)
	for i, v := range values {
		switch v := v.(type) {
		case int64:
			b = AppendInt(b, types[i], v)
		case float64:
			b = AppendFloat(b, v)
		case string:
			b = append(b, v...)
		case []byte:
			b = append(b, v...)
		}
	}
	return b
}

// describe prints a value in SQLite's own spelling, and cuts long ones.
func describe(v value) string {
	const most = 40
	switch v := v.(type) {
	case nil:
		return "NULL"
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		if s := strconv.FormatFloat(v, 'g', -1, 64); strings.ContainsAny(s, ".eI") {
			return s
		}
		return strconv.FormatFloat(v, 'f', 1, 64)
	case string:
		if len(v) > most {
			return fmt.Sprintf("%q and so on, %d bytes", v[:most], len(v))
		}
		return strconv.Quote(v)
	case []byte:
		if len(v) > most/2 {
			return fmt.Sprintf("x'%x' and so on, %d bytes", v[:most/2], len(v))
		}
		return fmt.Sprintf("x'%x'", v)
	}
	panic("no such value")
}

func TestSerialTypes(t *testing.T) {
	// Each integer is where SQLite's choice of a type changes.
	ints := []struct {
		v int64
		t SerialType
	}{
		{0, SerialZero},
		{1, SerialOne},
		{2, 1},
		{-1, 1},
		{127, 1},
		{-128, 1},
		{128, 2},
		{-129, 2},
		{1<<15 - 1, 2},
		{-1 << 15, 2},
		{1 << 15, 3},
		{-1<<15 - 1, 3},
		{1<<23 - 1, 3},
		{-1 << 23, 3},
		{1 << 23, 4},
		{-1<<23 - 1, 4},
		{1<<31 - 1, 4},
		{-1 << 31, 4},
		{1 << 31, 5},
		{-1<<31 - 1, 5},
		{1<<47 - 1, 5},
		{-1 << 47, 5},
		{1 << 47, 6},
		{-1<<47 - 1, 6},
		{math.MaxInt64, 6},
		{math.MinInt64, 6},
	}
	for _, tt := range ints {
		got := IntType(tt.v)
		b := AppendInt(nil, got, tt.v)
		if got != tt.t || uint64(len(b)) != got.Size() || got.Int(b) != tt.v {
			t.Errorf("%d: type %d, bytes % x, read back as %d; want type %d", tt.v, got, b, got.Int(b), tt.t)
		}
	}
	kinds := []struct {
		t               SerialType
		int, text, blob bool
		size            uint64
	}{
		{0, false, false, false, 0},
		{1, true, false, false, 1},
		{6, true, false, false, 8},
		{7, false, false, false, 8},
		{8, true, false, false, 0},
		{9, true, false, false, 0},
		{10, false, false, false, 0},
		{11, false, false, false, 0},
		{12, false, false, true, 0},
		{13, false, true, false, 0},
		{14, false, false, true, 1},
		{15, false, true, false, 1},
		{math.MaxUint64, false, true, false, math.MaxUint64/2 - 6},
		{math.MaxUint64 - 1, false, false, true, math.MaxUint64/2 - 6},
	}
	for _, tt := range kinds {
		if tt.t.IsInt() != tt.int || tt.t.IsText() != tt.text || tt.t.IsBlob() != tt.blob || tt.t.Size() != tt.size {
			t.Errorf("type %d: integer %t, text %t, blob %t, size %d; want %+v",
				tt.t, tt.t.IsInt(), tt.t.IsText(), tt.t.IsBlob(), tt.t.Size(), tt)
		}
	}
}

func TestRecordHeader(t *testing.T) {
	tests := []struct {
		b     string
		types string
		body  int
		ok    bool
	}{
		{"\x00", "", 0, true}, // no header at all: an empty record
		{"\x00\x01", "", 0, true},
		{"\x01", "", 1, true},
		{"\x01\x01", "", 1, true},
		{"\x03\x01\x08\x7f", "\x01\x08", 3, true},
		{"\x03\x01", "", 0, false},
		{"", "", 0, false},
		{"\x80", "", 0, false},
		{"\x80\x02", "", 2, true}, // longer than need be
		{"\x80\x01", "", 0, false},
		{"\x80\x03\x01", "\x01", 3, true},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff", "", 0, false},
	}
	for _, tt := range tests {
		types, body, ok := RecordHeader([]byte(tt.b))
		if ok != tt.ok || ok && (string(types) != tt.types || body != tt.body) {
			t.Errorf("% x: types % x, body at %d, %t; want %+v", tt.b, types, body, ok, tt)
		}
	}
}

// TestRecordHeaderLen walks the number of values over the sizes at which a header's length needs
// one byte more.
func TestRecordHeaderLen(t *testing.T) {
	for _, n := range []int{0, 1, 125, 126, 127, 128, 16380, 16381, 16382, 16383, 16384, 16385} {
		types := slices.Repeat([]SerialType{SerialOne}, n)
		b := AppendRecordHeader(nil, types...)
		got, body, ok := RecordHeader(b)
		if !ok || body != len(b) || len(got) != n || RecordHeaderLen(b) != uint64(len(b)) {
			t.Errorf("%d values: header of %d bytes read as %d types and a body at %d, %t", n, len(b), len(got), body, ok)
		}
		if _, _, ok := RecordHeader(b[:len(b)-1]); ok {
			t.Errorf("%d values: a header cut short is ok", n)
		}
	}
}
