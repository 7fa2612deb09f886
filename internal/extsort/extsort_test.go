package extsort

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/foliofs/folio/internal/record"
)

// testRecord makes the record of nil, integers, floats, texts and BLOBs.
func testRecord(values ...any) []byte {
	out := make([]record.Value, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case int:
			out[i] = record.OfInt(int64(v))
		case int64:
			out[i] = record.OfInt(v)
		case float64:
			out[i] = record.OfFloat(v)
		case string:
			out[i] = record.OfText([]byte(v))
		case []byte:
			out[i] = record.OfBlob(v)
		}
	}
	return record.Append(nil, out...)
}

func TestSorter(t *testing.T) {
	t.Parallel()
	orders := map[string]record.Order{
		"binary":  {{}, {}, {}},
		"desc":    {{Desc: true}, {}, {}},
		"nocase":  {{Collation: record.NoCase}, {Desc: true}, {}},
		"rtrim":   {{Collation: record.RTrim, Desc: true}, {Collation: record.NoCase}, {}},
		"one key": {{}},
	}
	for name, o := range orders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, memory := range []int{1, 200_000, 64 << 20} { // many runs, few, one
				testSorter(t, o, memory)
			}
		})
	}
}

func testSorter(t *testing.T, o record.Order, memory int) {
	r := rand.New(rand.NewPCG(3, 4))
	space := New(t.Context(), t.TempDir(), memory)
	s := space.Sorter(o)
	other := space.Sorter(o) // competes for the memory
	var want [][]byte
	for i := range 5000 {
		record := randomRecord(r, i, len(o))
		want = append(want, record)
		for _, s := range []*Sorter{s, other} {
			b, err := s.Add(len(record))
			if err != nil {
				t.Fatal(err)
			}
			copy(b, record)
		}
	}
	slices.SortStableFunc(want, o.Compare)
	if spilled := len(s.spilled) + len(other.spilled); (memory < 64<<20) != (spilled > 0) {
		t.Errorf("with %d bytes of memory %d runs were spilled", memory, spilled)
	}
	space.Prepare()
	checkMerge(t, s, want)
	checkMerge(t, other, want)
	if err := space.Close(); err != nil {
		t.Error(err)
	}
}

// randomRecord has few different values in the front columns, so that all columns count.
func randomRecord(r *rand.Rand, i, columns int) []byte {
	values := []any{nil, nil, int64(i)}[3-columns:]
	prefix := []string{"", "a", "/data/common/prefix/", "/DATA/common/prefix/"}
	for c := range columns - 1 {
		switch r.IntN(5) {
		case 0:
			values[c] = r.IntN(4) - 2
		case 1:
			values[c] = float64(r.IntN(8)) / 2
		case 2:
			values[c] = []byte(prefix[r.IntN(4)])
		case 3:
			values[c] = prefix[r.IntN(4)] + string([]byte{'a' + byte(r.IntN(3)), ' '})[:r.IntN(3)]
		}
	}
	return testRecord(values...)
}

// checkMerge reads a sorter to its end.
func checkMerge(t *testing.T, s *Sorter, want [][]byte) {
	t.Helper()
	m, err := s.Merge()
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if got := m.Peek(); got == nil || s.Order().Compare(got, w) != 0 {
			t.Fatalf("record %d is %x, want %x", i, got, w)
		}
		if err := m.Drop(); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.Peek(); got != nil {
		t.Errorf("%x after the end", got)
	}
}

// TestSorterLargeRecords has records larger than any buffer.
func TestSorterLargeRecords(t *testing.T) {
	t.Parallel()
	space := New(t.Context(), t.TempDir(), 1<<20)
	s := space.Sorter(record.Order{{}, {}})
	var want [][]byte
	for i := range 12 {
		record := testRecord(bytes.Repeat([]byte{byte(i), byte(i * 7), 3}, 1<<(21-i)/3+1), i)
		want = append(want, record)
		b, err := s.Add(len(record))
		if err != nil {
			t.Fatal(err)
		}
		copy(b, record)
	}
	slices.SortFunc(want, s.Order().Compare)
	space.Prepare()
	checkMerge(t, s, want)
	if err := space.Close(); err != nil {
		t.Error(err)
	}
}
