package sqlitefile

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/foliofs/folio/internal/private"
)

// A track is what a cursor should meet: keys in order, each with its entry.
type track[K any] struct {
	keys    []K
	compare func(a, b K) int
	seek    func(c *Cursor, k K) (bool, error)
	at      func(row *Row) (K, error)
	gaps    []K // keys between, before and behind the others
}

// roam moves a cursor at random and compares each step with the slice.
func (tr *track[K]) roam(t *testing.T, c *Cursor, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	at := -1 // where the cursor should stand; outside the slice where it should not be valid
	for step := range 3000 {
		var ok bool
		var err error
		what := ""
		switch n := rng.IntN(100); {
		case n < 3:
			what, at = "First", 0
			ok, err = c.First()
		case n < 6:
			what, at = "Last", len(tr.keys)-1
			ok, err = c.Last()
		case n < 20:
			k := tr.keys[rng.IntN(len(tr.keys))]
			if n%2 == 0 {
				k = tr.gaps[rng.IntN(len(tr.gaps))]
			}
			what = fmt.Sprintf("Seek %v", k)
			at, _ = slices.BinarySearchFunc(tr.keys, k, tr.compare)
			ok, err = tr.seek(c, k)
		case n < 60:
			what = "Next"
			if at >= 0 && at < len(tr.keys) {
				at++
			}
			ok, err = c.Next()
		default:
			what = "Prev"
			if at >= 0 && at < len(tr.keys) {
				at--
			}
			ok, err = c.Prev()
		}
		valid := at >= 0 && at < len(tr.keys)
		if err != nil || ok != valid {
			t.Fatalf("seed %d, step %d: %s: %v, %v, want %v", seed, step, what, ok, err, valid)
		}
		row, err := c.Row()
		if !valid {
			if err == nil {
				t.Fatalf("seed %d, step %d: %s: a row where there is none", seed, step, what)
			}
			at = -1
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tr.at(&row); err != nil || tr.compare(got, tr.keys[at]) != 0 {
			t.Fatalf("seed %d, step %d: %s: at %v, %v, want %v", seed, step, what, got, err, tr.keys[at])
		}
	}
}

// sweep visits every key and every gap once.
func (tr *track[K]) sweep(t *testing.T, c *Cursor) {
	t.Helper()
	for _, k := range slices.Concat(tr.keys, tr.gaps) {
		want, _ := slices.BinarySearchFunc(tr.keys, k, tr.compare)
		ok, err := tr.seek(c, k)
		if err != nil || ok != (want < len(tr.keys)) {
			t.Fatalf("Seek %v: %v, %v", k, ok, err)
		}
		if !ok {
			continue
		}
		row, err := c.Row()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tr.at(&row); err != nil || tr.compare(got, tr.keys[want]) != 0 {
			t.Fatalf("Seek %v: at %v, %v, want %v", k, got, err, tr.keys[want])
		}
	}
}

// rowids returns n rowids with gaps of all sizes, the smallest and the largest among them.
func rowids(n int) []int64 {
	ids := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 40, -300, -1, 0, 1, 2, 127, 128, 1 << 40, math.MaxInt64 - 1, math.MaxInt64}
	for i := range n {
		ids = append(ids, int64(i)*3+1000)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// testFinds looks up rowids with a cursor, most of them near the ones before.
func testFinds(t *testing.T, table Table, tr *track[int64]) {
	t.Helper()
	rng, c, near := rand.New(rand.NewPCG(1, 1)), table.Cursor(), 0
	all := slices.Sorted(slices.Values(slices.Concat(tr.keys, tr.gaps)))
	for range 20_000 {
		if near += rng.IntN(5) - 1; near < 0 || near >= len(all) || rng.IntN(50) == 0 {
			near = rng.IntN(len(all))
		}
		_, want := slices.BinarySearch(tr.keys, all[near])
		ok, err := c.Internal(private.Key{}).Find(all[near])
		if err != nil || ok != want {
			t.Fatalf("Find %d: %v, %v, want %v", all[near], ok, err, want)
		}
		if !ok {
			continue
		}
		if row, err := c.Row(); err != nil || row.Rowid() != all[near] {
			t.Fatalf("Find %d: at %d, %v", all[near], row.Rowid(), err)
		}
	}
}

func TestCursorRowid(t *testing.T) {
	t.Parallel()
	ids := rowids(2000)
	path := build(t, &BuildOptions{PageSize: 512}, []string{"CREATE TABLE t (a)"}, func(b *Builder) error {
		table := mustTable(b, "t")
		for i, id := range ids {
			if err := table.Append(id, pattern(i, i%40)); err != nil {
				return err
			}
		}
		return nil
	})
	tr := &track[int64]{
		keys: ids, compare: cmp.Compare[int64],
		seek: func(c *Cursor, id int64) (bool, error) { return c.SeekRowid(id) },
		at:   func(row *Row) (int64, error) { return row.Rowid(), nil },
	}
	for _, id := range ids {
		for _, gap := range []int64{id - 1, id + 1} {
			if _, there := slices.BinarySearch(ids, gap); !there {
				tr.gaps = append(tr.gaps, gap)
			}
		}
	}
	for _, plain := range []bool{false, true} {
		view(t, open(t, path, &Options{NoMmap: plain}), func(rx *Rx) error {
			table, err := rx.Table("t")
			if err != nil {
				return err
			}
			tr.sweep(t, table.Cursor())
			for seed := range uint64(5) {
				tr.roam(t, table.Cursor(), seed)
			}
			testGets(t, table, tr)
			testFinds(t, table, tr)
			testRanges(t, table, ids)
			return nil
		})
	}
}

// testGets gets every row, and none where there is none.
func testGets(t *testing.T, table Table, tr *track[int64]) {
	for _, id := range tr.keys {
		row, ok, err := table.Get(id)
		if err != nil || !ok || row.Rowid() != id {
			t.Fatalf("Get(%d): %d, %v, %v", id, row.Rowid(), ok, err)
		}
	}
	for _, id := range tr.gaps {
		if _, ok, err := table.Get(id); err != nil || ok {
			t.Fatalf("Get(%d): %v, %v, want nothing", id, ok, err)
		}
	}
}

// testRanges reads ranges whose ends are rows, gaps, and the wrong way round.
func testRanges(t *testing.T, table Table, ids []int64) {
	for _, r := range [][2]int64{
		{math.MinInt64, math.MaxInt64}, {-5, 5}, {1001, 1002}, {1000, 1000}, {5, -5}, {math.MaxInt64, math.MaxInt64}, {math.MinInt64, math.MinInt64}, {1500, 2500},
	} {
		var got, want []int64
		for row, err := range table.Range(r[0], r[1]) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, row.Rowid())
		}
		for _, id := range ids {
			if id >= r[0] && id <= r[1] {
				want = append(want, id)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("Range(%d, %d): %d rows, want %d", r[0], r[1], len(got), len(want))
		}
	}
}

// A pair is a key of two columns: a text that ascends and a number that descends.
type pair struct {
	name string
	n    int64
}

func comparePairs(a, b pair) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(b.n, a.n))
}

// pairs returns keys of all lengths: some go on in overflow pages.
func pairs(names, each int) (keys, gaps []pair) {
	for i := range names {
		name := fmt.Sprintf("name %05d", 2*i)
		if i%50 == 0 {
			name += string(pattern(7, 900))
		}
		for j := range each {
			keys = append(keys, pair{name, int64(10 * j)})
			gaps = append(gaps, pair{name, int64(10*j + 5)})
		}
		gaps = append(gaps, pair{fmt.Sprintf("name %05d", 2*i+1), 0}, pair{name, -1}, pair{name + "\x00", 0})
	}
	gaps = append(gaps, pair{"", 0}, pair{"zzz", 0})
	slices.SortFunc(keys, comparePairs)
	return keys, gaps
}

func TestCursorKeys(t *testing.T) {
	t.Parallel()
	keys, gaps := pairs(200, 4)
	path := build(t, &BuildOptions{PageSize: 512}, []string{
		"CREATE TABLE w (note, name TEXT, n INT, PRIMARY KEY (name, n DESC)) WITHOUT ROWID",
		"CREATE TABLE r (n INT, name TEXT)",
		"CREATE INDEX rx ON r (name, n DESC)",
	}, func(b *Builder) error {
		for i, k := range keys {
			err := errors.Join(mustTable(b, "w").AppendKey(nil, k.name, k.n), mustTable(b, "r").Append(int64(i), k.n, k.name))
			if err != nil {
				return err
			}
		}
		return nil
	})
	db := open(t, path, nil)
	if r, err := db.Check(t.Context(), nil); err != nil || !r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
	view(t, db, func(rx *Rx) error {
		w, err := rx.Table("w")
		if err != nil {
			return err
		}
		x, err := rx.Index("rx")
		if err != nil {
			return err
		}
		testPairs(t, w.Cursor, keys, gaps, 1, 2)
		testPairs(t, x.Cursor, keys, gaps, 0, 1)
		testPrefixes(t, w, x, keys)
		return nil
	})
}

// testPairs moves cursors over entries whose columns i and j are the key.
func testPairs(t *testing.T, cursor func() *Cursor, keys, gaps []pair, i, j int) {
	tr := &track[pair]{
		keys: keys, gaps: gaps, compare: comparePairs,
		seek: func(c *Cursor, k pair) (bool, error) { return c.SeekKey(k.name, k.n) },
		at: func(row *Row) (k pair, err error) {
			if k.name, err = row.Text(i); err == nil {
				k.n, err = row.Int64(j)
			}
			return k, err
		},
	}
	tr.sweep(t, cursor())
	for seed := range uint64(5) {
		tr.roam(t, cursor(), seed)
	}
}

// testPrefixes finds and lists by the first column alone, and by both.
func testPrefixes(t *testing.T, w Table, x Index, keys []pair) {
	for i := 0; i < len(keys); i += 4 {
		first := keys[i]
		if row, ok, err := w.Find(first.name); err != nil || !ok || first30(&row, 1) != first30Of(first.name) {
			t.Fatalf("Find(%q): %v, %v", first.name, ok, err)
		}
		if id, ok, err := x.Find(first.name); err != nil || !ok || id != int64(i) {
			t.Fatalf("Find(%q): %d, %v, %v, want %d", first.name, id, ok, err, i)
		}
		if id, ok, err := x.Find(first.name, keys[i+2].n); err != nil || !ok || id != int64(i+2) {
			t.Fatalf("Find(%q, %d): %d, %v, %v", first.name, keys[i+2].n, id, ok, err)
		}
		if _, ok, err := x.Find(first.name, 5); err != nil || ok {
			t.Fatalf("Find(%q, 5): %v, %v, want nothing", first.name, ok, err)
		}
		var ns []int64
		for row, err := range x.Prefix(first.name) {
			if err != nil {
				t.Fatal(err)
			}
			n, _ := row.Int64(1)
			ns = append(ns, n)
		}
		if want := []int64{30, 20, 10, 0}; !slices.Equal(ns, want) {
			t.Fatalf("Prefix(%q): %v, want %v", first.name, ns, want)
		}
	}
}

func first30(row *Row, i int) string {
	s, _ := row.Text(i)
	return first30Of(s)
}

func first30Of(s string) string { return s[:min(30, len(s))] }

// TestCursorErrors uses cursors as they must not be.
func TestCursorErrors(t *testing.T) {
	t.Parallel()
	view(t, seeds[1].image(t).open(t, nil), func(rx *Rx) error {
		word, err := rx.Table("word")
		if err != nil {
			return err
		}
		seq, err := rx.Table("seq")
		if err != nil {
			return err
		}
		x, err := rx.Index("sqlite_autoindex_seq_1")
		if err != nil {
			return err
		}
		c := word.Cursor()
		if ok, err := c.Next(); ok || err != nil {
			t.Errorf("Next of a new cursor: %v, %v", ok, err)
		}
		if _, err := c.Row(); err == nil {
			t.Error("a new cursor has a row")
		}
		if _, err := c.SeekRowid(1); err == nil {
			t.Error("SeekRowid without rowids")
		}
		if _, _, err := word.Get(1); err == nil {
			t.Error("Get without rowids")
		}
		if _, _, err := seq.Find(1); err == nil {
			t.Error("Find in a table with rowids")
		}
		for _, key := range [][]any{{1, 2, 3}, {struct{}{}}, {complex(1, 1)}} {
			if _, _, err := x.Find(key...); err == nil {
				t.Errorf("Find(%v)", key)
			}
			if _, err := x.Cursor().SeekKey(key...); err == nil {
				t.Errorf("SeekKey(%v)", key)
			}
		}
		if ok, err := seq.Cursor().SeekKey(1); err == nil {
			t.Errorf("SeekKey in a table with rowids: %v", ok)
		}
		return nil
	})
}
