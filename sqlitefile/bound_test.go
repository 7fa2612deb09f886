package sqlitefile

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/record"
)

// TestRange compares ranges between random bounds with a look at every entry, in indexes of several
// levels and orders.
func TestRange(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	db := open(t, build(t, &BuildOptions{PageSize: 512}, []string{"CREATE TABLE seed (a)"}, func(*Builder) error { return nil }), nil)
	for _, sql := range []string{
		"CREATE TABLE t (a, b)", "CREATE INDEX i ON t (a, b)", "CREATE INDEX d ON t (a DESC, b)", "CREATE INDEX n ON t (a COLLATE NOCASE, b DESC)", "CREATE UNIQUE INDEX u ON t (b, a)",
		"CREATE TABLE w (a, b, PRIMARY KEY (a, b DESC)) WITHOUT ROWID", "CREATE TABLE e (a)", "CREATE INDEX empty ON e (a)",
	} {
		must.Do(t, db.Exec(t.Context(), sql))
	}
	update(t, db, func(tx *Tx) error {
		rows, err := tx.Table("t")
		must.Do(t, err)
		keyed, err := tx.Table("w")
		must.Do(t, err)
		for i := range 700 {
			a := anyKey(r)
			_, err := rows.Insert(a, i)
			must.Do(t, err)
			if a != nil {
				must.Do(t, keyed.PutKey(a, i%150))
			}
		}
		return nil
	})
	view(t, db, func(rx *Rx) error {
		for _, name := range []string{"i", "d", "n", "u", "empty"} {
			x, err := rx.Index(name)
			must.Do(t, err)
			for range 60 {
				low, high := anyBound(r), anyBound(r)
				compareRange(t, rx, x.def.Key, low, high, x.All(), x.Range(low, high), x.RangeBackward(low, high))
			}
			compareRange(t, rx, x.def.Key, Bound{}, Bound{}, x.All(), x.All(), x.Backward())
		}
		w, err := rx.Table("w")
		must.Do(t, err)
		for range 60 {
			low, high := anyBound(r), anyBound(r)
			compareRange(t, rx, w.def.Key, low, high, w.All(), w.RangeKey(low, high), w.RangeKeyBackward(low, high))
		}
		return nil
	})
}

// anyKey returns one of few values of each kind.
func anyKey(r *rand.Rand) any {
	switch r.IntN(6) {
	case 0:
		return nil
	case 1:
		return r.IntN(20)
	case 2:
		return float64(r.IntN(20)) + 0.5
	case 3:
		return []byte{byte(r.IntN(5))}
	case 4:
		return strings.Repeat("long ", 100) + fmt.Sprint(r.IntN(9)) // in overflow pages
	}
	return string(rune('A'+r.IntN(5))) + string(rune('a'+r.IntN(3)))
}

func anyBound(r *rand.Rand) Bound {
	values := []any{anyKey(r), r.IntN(700)}[:1+r.IntN(2)]
	switch r.IntN(5) {
	case 0:
		return Bound{}
	case 1, 2:
		return Excluding(values...)
	}
	return Including(values...)
}

// compareRange compares a range, both ways, with those of all entries that lie between the bounds.
func compareRange(t *testing.T, rx *Rx, columns []record.KeyColumn, low, high Bound, all, forward, backward iter.Seq2[Row, error]) {
	t.Helper()
	inside := func(row *Row, b Bound, side int) bool {
		if !b.set {
			return true
		}
		k, err := rx.makeKey(nil, "", columns[:min(len(columns), len(b.values))], b.values[:min(len(columns), len(b.values))])
		must.Do(t, err)
		order, err := rx.pager.CompareValues(&row.rec, &k)
		must.Do(t, err)
		return order*side > 0 || order == 0 && !b.exclusive
	}
	var want []string
	for row, err := range all {
		must.Do(t, err)
		if inside(&row, low, 1) && inside(&row, high, -1) {
			want = append(want, entryText(t, &row))
		}
	}
	if len(low.values) > len(columns) || len(high.values) > len(columns) {
		t.Fatal("a bound of too many values")
	}
	texts := func(rows iter.Seq2[Row, error]) (list []string) {
		for row, err := range rows {
			must.Do(t, err)
			list = append(list, entryText(t, &row))
		}
		return list
	}
	if got := texts(forward); !slices.Equal(got, want) {
		t.Errorf("from %v to %v: %d entries, want %d", low, high, len(got), len(want))
	}
	got := texts(backward)
	if slices.Reverse(got); !slices.Equal(got, want) {
		t.Errorf("back from %v to %v: %d entries, want %d", high, low, len(got), len(want))
	}
}

func entryText(t *testing.T, row *Row) string {
	t.Helper()
	values := make([]Value, row.Len())
	must.Do(t, row.Values(values))
	return fmt.Sprint(row.Rowid(), values)
}

// TestRangeMisuse gives bounds that are none.
func TestRangeMisuse(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir()+"/db", &Options{Create: true})
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (a); CREATE INDEX i ON t (a)"))
	view(t, db, func(rx *Rx) error {
		x, err := rx.Index("i")
		must.Do(t, err)
		table, err := rx.Table("t")
		must.Do(t, err)
		for what, rows := range map[string]iter.Seq2[Row, error]{
			"no values": x.Range(Including(), Bound{}), "no values above": x.Range(Bound{}, Excluding()), "no values, backward": x.RangeBackward(Bound{}, Including()),
			"too many values": x.Range(Including(1, 2, 3), Bound{}), "a struct": x.Range(Including(struct{}{}), Bound{}),
			"a table with rowids": table.RangeKey(Including(1), Bound{}), "backward": table.RangeKeyBackward(Bound{}, Bound{}),
		} {
			n, failed := 0, false
			for _, err := range rows {
				n++
				failed = err != nil
			}
			if n != 1 || !failed {
				t.Errorf("%s: yielded %d, an error: %v", what, n, failed)
			}
		}
		return nil
	})
}
