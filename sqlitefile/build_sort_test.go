package sqlitefile

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/foliofs/folio/internal/ddl"
)

// testRecord makes a record of values, without affinity.
func testRecord(values ...any) []byte {
	columns := make([]ddl.Column, len(values))
	r := newRowBuilder(&ddl.Table{Name: "t", Columns: columns, RowidAlias: -1})
	if err := r.load(0, values); err != nil {
		panic(err)
	}
	fields := make([]int, len(values))
	for i := range fields {
		fields[i] = i
	}
	n, err := r.header(fields)
	if err != nil {
		panic(err)
	}
	record := make([]byte, n)
	w := payloadWriter{dst: record}
	if err := r.write(&w, fields, values); err != nil {
		panic(err)
	}
	return record
}

// orderedValues are in SQLite's order, the values of one line equal in it. NOCASE and RTRIM only make fewer differences.
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
	o := keyOrder{{}}
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

// checkOrder compares two records, with all columns in both directions, by themselves and by their words.
func checkOrder(t *testing.T, o keyOrder, a, b []byte, want int) {
	t.Helper()
	for _, desc := range []bool{false, true} {
		for i := range o {
			o[i].desc = desc
		}
		if got := o.compare(a, b); sign(got) != sign(want) {
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
func compareByWords(o keyOrder, a, b []byte) int {
	for p := (keyPlace{}); p.col < len(o); {
		x, y := o.word(a, p), o.word(b, p)
		if x != y {
			if x < y {
				return -1
			}
			return 1
		}
		p = p.after(x, o[p.col].desc)
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
		for c := collateBinary; c < collateUnknown; c++ {
			for _, r := range records {
				for _, s := range records {
					o := keyOrder{{collation: c}, {collation: c}}
					checkOrder(t, o, r, s, o.compare(r, s))
				}
			}
		}
	})
}

func TestSorter(t *testing.T) {
	t.Parallel()
	orders := map[string]keyOrder{
		"binary":  {{}, {}, {}},
		"desc":    {{desc: true}, {}, {}},
		"nocase":  {{collation: collateNoCase}, {desc: true}, {}},
		"rtrim":   {{collation: collateRTrim, desc: true}, {collation: collateNoCase}, {}},
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

func testSorter(t *testing.T, o keyOrder, memory int) {
	r := rand.New(rand.NewPCG(3, 4))
	space := &sortSpace{ctx: t.Context(), dir: t.TempDir(), limit: memory}
	s := space.sorter(o)
	other := space.sorter(o) // competes for the memory
	var want [][]byte
	for i := range 5000 {
		record := randomRecord(r, i, len(o))
		want = append(want, record)
		for _, s := range []*sorter{s, other} {
			b, err := s.add(len(record))
			if err != nil {
				t.Fatal(err)
			}
			copy(b, record)
		}
	}
	slices.SortStableFunc(want, o.compare)
	if spilled := len(s.spilled) + len(other.spilled); (memory < 64<<20) != (spilled > 0) {
		t.Errorf("with %d bytes of memory %d runs were spilled", memory, spilled)
	}
	space.prepare()
	checkMerge(t, s, want)
	checkMerge(t, other, want)
	if err := space.close(); err != nil {
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
func checkMerge(t *testing.T, s *sorter, want [][]byte) {
	t.Helper()
	m, err := s.merge()
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if got := m.peek(); got == nil || s.order().compare(got, w) != 0 {
			t.Fatalf("record %d is %x, want %x", i, got, w)
		}
		if err := m.drop(); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.peek(); got != nil {
		t.Errorf("%x after the end", got)
	}
}

// TestSorterLargeRecords has records larger than any buffer.
func TestSorterLargeRecords(t *testing.T) {
	t.Parallel()
	space := &sortSpace{ctx: t.Context(), dir: t.TempDir(), limit: 1 << 20}
	s := space.sorter(keyOrder{{}, {}})
	var want [][]byte
	for i := range 12 {
		record := testRecord(pattern(i, 1<<(21-i)), i)
		want = append(want, record)
		b, err := s.add(len(record))
		if err != nil {
			t.Fatal(err)
		}
		copy(b, record)
	}
	slices.SortFunc(want, s.order().compare)
	space.prepare()
	checkMerge(t, s, want)
	if err := space.close(); err != nil {
		t.Error(err)
	}
}

// TestBuildSpills builds an index from many runs.
func TestBuildSpills(t *testing.T) {
	t.Parallel()
	const n = 30_000
	path := build(t, &BuildOptions{SortMemory: 200_000}, []string{
		"CREATE TABLE t(a INT, b TEXT UNIQUE, c INT)", "CREATE INDEX ta ON t(a DESC, b COLLATE NOCASE)", "CREATE INDEX tc ON t(c)",
	}, func(b *Builder) error {
		table := mustTable(b, "t")
		for i := range n {
			if err := table.Append(int64(i), i%17, fmt.Sprintf("%x", uint32(i)*2654435761), i); err != nil {
				return err
			}
		}
		return nil
	})
	checkShell(t, path, "PRAGMA integrity_check; SELECT count(*) FROM t WHERE a = 3", "ok\n1765")
}

// TestBuildUniqueAcrossRuns finds a duplicate whose rows were spilled in different runs, and lets NULLs be.
func TestBuildUniqueAcrossRuns(t *testing.T) {
	t.Parallel()
	for _, last := range []any{5, 6, nil} {
		err := Build(t.Context(), t.TempDir()+"/x.db", &BuildOptions{SortMemory: 200_000}, func(b *Builder) error { return fillDuplicates(b, last) })
		if want := "UNIQUE constraint failed: t.a, t.b"; last == 5 && (err == nil || err.(interface{ Unwrap() error }).Unwrap().Error() != want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if last != 5 && err != nil {
			t.Error(err)
		}
	}
}

func fillDuplicates(b *Builder, last any) error {
	if err := b.Create("CREATE TABLE t(a TEXT COLLATE NOCASE, b, UNIQUE(a, b))"); err != nil {
		return err
	}
	table := mustTable(b, "t")
	for i := range 20_000 {
		if err := table.Append(int64(2*i), fmt.Sprintf("%x", uint32(i)*2654435761), 5); err != nil {
			return err
		}
		if err := table.Append(int64(2*i+1), "same", nil); err != nil {
			return err
		}
	}
	return table.Append(1<<50, "3C6EF362", last)
}
