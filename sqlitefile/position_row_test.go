package sqlitefile

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tiny makes a database with some facts, whose transactions spill soon.
func tiny(t *testing.T, o *Options, schema string) *DB {
	t.Helper()
	o.Create, o.PageSize, o.Durability = true, 512, DurabilityOff
	db := open(t, filepath.Join(t.TempDir(), "db"), o)
	if err := db.Exec(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	return db
}

// change runs fn in a transaction without error.
func change(t *testing.T, db *DB, fn func(tx *Tx) error) {
	t.Helper()
	if err := db.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// readings are all ways to read a column of a row.
func readings(row Row) map[string]error {
	all := make(map[string]error)
	var v [4]Value
	var b [3]byte
	_, all["Value"] = row.Value(2)
	_, all["Text"] = row.Text(2)
	_, all["Bytes"] = row.Bytes(2)
	_, all["Int64"] = row.Int64(1)
	_, all["Float64"] = row.Float64(1)
	_, all["Size"] = row.Size(2)
	_, all["Kind"] = row.Kind(2)
	_, all["Time"] = row.Time(1)
	_, all["ReadAt"] = row.ReadAt(2, b[:], 0)
	all["Values"] = row.Values(v[:])
	all["ValuesUpTo"] = row.ValuesUpTo(10, v[:])
	all["Scan"] = row.Scan(nil, nil, &b2{})
	return all
}

// A b2 takes any value.
type b2 struct{}

func (*b2) Scan(any) error { return nil }

// TestStaleRow reads a row after changes. Changes to other tables, and spills, leave it as it was;
// after one to its own table, every method returns ErrStale.
func TestStaleRow(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		for _, journal := range []JournalMode{JournalWAL, JournalDelete} {
			db := tiny(t, &Options{NoMmap: plain, JournalMode: journal, spillBytes: 16 * 512}, positionSchema)
			change(t, db, func(tx *Tx) error { return staleRows(t, tx) })
		}
	}
}

func staleRows(t *testing.T, tx *Tx) error {
	m := &model{tx: tx, facts: make(map[int64]fact)}
	for id := range int64(40) {
		if err := m.put(newFact(id, 0, int(id)*40)); err != nil {
			return err
		}
	}
	r, w, err := m.tables()
	if err != nil {
		return err
	}
	o, err := tx.Table("o")
	if err != nil {
		return err
	}
	f := m.facts[20]
	row, _, err := r.Get(20)
	kept, _, wErr := w.Find(f.g, f.k, f.id)
	if err := errors.Join(err, wErr); err != nil {
		return err
	}
	for i := range int64(300) { // which spills
		if _, err := o.Insert(nil, string(pattern(int(i), 400))); err != nil {
			return err
		}
		all := way{fact: rowFact}
		if err := errors.Join(wantFact(&all, &row, &f), wantFact(&all, &kept, &f)); err != nil {
			return fmt.Errorf("after %d changes elsewhere: %w", i, err)
		}
	}
	wantAll := func(when string, want error) {
		for _, row := range []Row{row, kept} {
			for what, err := range readings(row) {
				if !errors.Is(err, want) {
					t.Errorf("%s: %s: %v, want %v", when, what, err, want)
				}
			}
		}
	}
	wantAll("before", nil)
	errBack := errors.New("back")
	if err := tx.Nested(func(*Tx) error { return errors.Join(o.Put(7, nil, "x"), errBack) }); !errors.Is(err, errBack) {
		return err
	}
	wantAll("taken back elsewhere", nil)
	err = tx.Nested(func(*Tx) error { return errors.Join(r.Put(21, 21, 0, "x", nil), w.PutKey(0, 0, "x", nil), errBack) })
	if !errors.Is(err, errBack) {
		return err
	}
	wantAll("taken back", ErrStale)
	return nil
}

// TestRowAfterEnd reads a row and moves a cursor after the end of their transaction.
func TestRowAfterEnd(t *testing.T) {
	t.Parallel()
	db := tiny(t, &Options{}, positionSchema)
	var row Row
	var c *Cursor
	change(t, db, func(tx *Tx) error {
		r, err := tx.Table("r")
		for id := range int64(9) {
			err = errors.Join(err, r.Put(id, nil, 1, "k", nil))
		}
		c = r.Cursor()
		_, cErr := c.First()
		got, _, rowErr := r.Get(3)
		row = got
		return errors.Join(err, cErr, rowErr)
	})
	for what, err := range readings(row) {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := c.Next(); !errors.Is(err, ErrClosed) {
		t.Errorf("Next: %v", err)
	}
}

// TestDroppedWhileRead drops what is being read, or makes it anew. That is an error by name. What
// is taken back goes on, and so does what only moves, as roots do with auto-vacuum.
func TestDroppedWhileRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, exec, back string
		closed           bool
	}{
		{"the table", "DROP TABLE r", "", true},
		{"the index", "DROP INDEX rk", "", true},
		{"another table", "DROP TABLE o", "", false},
		{"another index", "DROP INDEX ov", "", false},
		{"a table made anew", "DROP TABLE r; CREATE TABLE r (id INTEGER PRIMARY KEY, g INT, body BLOB, k TEXT)", "", true},
		{"taken back", "", "DROP TABLE r", false},
	} {
		for _, vacuum := range []bool{false, true} {
			for _, from := range []string{"r", "rk"} {
				closed := test.closed && !(from == "r" && test.name == "the index")
				t.Run(fmt.Sprintf("%s/%s/%v", test.name, from, vacuum), func(t *testing.T) {
					t.Parallel()
					droppedWhileRead(t, vacuum, from, test.exec, test.back, closed)
				})
			}
		}
	}
}

func droppedWhileRead(t *testing.T, vacuum bool, from, exec, back string, closed bool) {
	path := filepath.Join(t.TempDir(), "db")
	kind := 0
	if vacuum {
		kind = 1
	}
	writeFile(t, path, emptyDatabase(512, kind))
	db := open(t, path, &Options{})
	other := "CREATE TABLE o (id INTEGER PRIMARY KEY, v TEXT); CREATE INDEX ov ON o (v);" // with the first roots
	if err := db.Exec(t.Context(), other+strings.Split(positionSchema, "CREATE TABLE o")[0]); err != nil {
		t.Fatal(err)
	}
	change(t, db, func(tx *Tx) error {
		m := &model{tx: tx, facts: make(map[int64]fact)}
		for id := range int64(60) {
			if err := m.put(newFact(id, 0, 100)); err != nil {
				return err
			}
		}
		all := ways()[slices.IndexFunc(ways(), func(w way) bool { return w.name == from+".All" })]
		rows, err := all.rows(tx)
		if err != nil {
			return err
		}
		table, err := tx.Rx.Table("r")
		if err != nil {
			return err
		}
		n := 0
		for _, err = range rows {
			if err != nil {
				break
			}
			if n++; n == 20 {
				if err := tx.Exec(exec); err != nil {
					return err
				}
				if back != "" {
					s, err := tx.Savepoint()
					if err := errors.Join(err, tx.Exec(back), s.Rollback()); err != nil {
						return err
					}
				}
			}
		}
		if closed && (n != 20 || !errors.Is(err, ErrClosed)) || !closed && (n != 60 || err != nil) {
			t.Errorf("%d rows, %v", n, err)
		}
		if _, _, err := table.Get(30); err != nil && (!closed || !errors.Is(err, ErrClosed)) {
			t.Errorf("Get: %v", err)
		}
		return nil
	})
}

// TestCascadeWhileRead deletes parents while their children are read, which go with them.
func TestCascadeWhileRead(t *testing.T) {
	t.Parallel()
	db := tiny(t, &Options{ForeignKeys: true}, `
		CREATE TABLE p (id INTEGER PRIMARY KEY);
		CREATE TABLE c (id INTEGER PRIMARY KEY, p INT REFERENCES p ON DELETE CASCADE, body BLOB);
		CREATE INDEX cp ON c (p)`)
	change(t, db, func(tx *Tx) error {
		p, pErr := tx.Table("p")
		c, cErr := tx.Table("c")
		if err := errors.Join(pErr, cErr); err != nil {
			return err
		}
		for i := range int64(200) {
			if i < 50 {
				pErr = p.InsertRowid(i, nil)
			}
			if err := errors.Join(pErr, c.InsertRowid(i, nil, i%50, pattern(int(i), 50))); err != nil {
				return err
			}
		}
		var got []int64
		for row, err := range c.All() {
			if err != nil {
				return err
			}
			got = append(got, row.Rowid())
			parent, err := row.Int64(1)
			if err != nil {
				return err
			}
			if _, err := p.Delete((parent + 1) % 50); err != nil {
				return err
			}
		}
		var want []int64 // each other one; the last one deletes the parent of the first
		for id := int64(0); id < 50; id += 2 {
			want = append(want, id)
		}
		for id := int64(50); id < 200; id++ {
			if id%50%2 == 0 {
				want = append(want, id)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		return nil
	})
}

// TestDeleteAll deletes entries of all sizes in random order, until none is left. Where one in an
// interior page goes, the last entry of a leaf takes its place, and may leave the leaf empty.
func TestDeleteAll(t *testing.T) {
	t.Parallel()
	db := tiny(t, &Options{}, "CREATE TABLE w (k TEXT PRIMARY KEY) WITHOUT ROWID")
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 3))
		change(t, db, func(tx *Tx) error {
			w, err := tx.Table("w")
			if err != nil {
				return err
			}
			keys := make(map[string]bool)
			for range 200 {
				k := fmt.Sprint(rng.IntN(1e6), strings.Repeat("x", rng.IntN(2)*rng.IntN(100)))
				if keys[k] = true; err == nil {
					err = w.PutKey(k)
				}
			}
			list := slices.Sorted(maps.Keys(keys))
			rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			for _, k := range list {
				if n, err := w.DeleteKey(k); n != 1 || err != nil {
					return fmt.Errorf("seed %d: %d, %w", seed, n, err)
				}
			}
			return err
		})
	}
}

// TestCursorRoams moves cursors at random, forward and back, while the rows change at random.
func TestCursorRoams(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		o := &Options{NoMmap: seed%2 == 0}
		if seed%3 == 0 {
			o.spillBytes = 16 * 512
		}
		db := tiny(t, o, positionSchema)
		change(t, db, func(tx *Tx) error {
			m := &model{tx: tx, facts: make(map[int64]fact)}
			for id := range int64(100) {
				if err := m.put(newFact(id*10, 0, rng.IntN(300))); err != nil {
					return err
				}
			}
			if err := roamChanging(m, rng); err != nil {
				return fmt.Errorf("seed %d: %w", seed, err)
			}
			return m.compare()
		})
	}
}

// A roamer is a cursor and where it should be.
type roamer struct {
	*Cursor
	way way
	at  *fact // where it stands, or stood when that was deleted
}

func newRoamers(tx *Tx) (list []roamer, err error) {
	for _, w := range ways() {
		table, what, _ := strings.Cut(w.name, ".")
		if what != "All" {
			continue
		}
		r := roamer{way: w}
		if len(table) == 1 {
			t, err := tx.Rx.Table(table)
			if err != nil {
				return nil, err
			}
			r.Cursor = t.Cursor()
		} else {
			x, err := tx.Index(table)
			if err != nil {
				return nil, err
			}
			r.Cursor = x.Cursor()
		}
		list = append(list, r)
	}
	return list, nil
}

func roamChanging(m *model, rng *rand.Rand) error {
	list, err := newRoamers(m.tx)
	if err != nil {
		return err
	}
	changes := positionChanges()
	for step := range 400 {
		for i := range list {
			if err := list[i].move(m, rng); err != nil {
				return fmt.Errorf("step %d, %s: %w", step, list[i].way.name, err)
			}
		}
		facts := slices.Collect(maps.Values(m.facts))
		slices.SortFunc(facts, byID)
		if len(facts) < 20 {
			return nil
		}
		c := changes[rng.IntN(len(changes))]
		if strings.Contains(c.name, "of a") {
			continue
		}
		if err := c.change(m, &list[rng.IntN(len(list))].way, facts[rng.IntN(len(facts))], step); err != nil {
			return fmt.Errorf("step %d, %s: %w", step, c.name, err)
		}
	}
	return nil
}

// move moves a cursor, mostly to a neighbor, and looks where it is.
func (r *roamer) move(m *model, rng *rand.Rand) error {
	what, move := "Next", r.Next
	from := r.at
	r.way.back = rng.IntN(5) < 2
	switch {
	case r.at == nil && !r.way.back:
		what, move = "First", r.First
	case r.at == nil:
		what, move = "Last", r.Last
	case r.way.back:
		what, move = "Prev", r.Prev
	}
	if r.at != nil && rng.IntN(3) == 0 { // look again first
		if err := r.look(m); err != nil {
			return err
		}
	}
	want := m.next(&r.way, from)
	ok, err := move()
	if err != nil || ok != (want != nil) {
		return fmt.Errorf("%s: %v, %w, want %v", what, ok, err, want != nil)
	}
	if r.at = want; want == nil {
		return nil
	}
	return r.look(m)
}

// look reads the current entry, which may be another by now, or gone.
func (r *roamer) look(m *model) error {
	now, there := m.facts[r.at.id]
	there = there && r.way.order(now, *r.at) == 0
	row, err := r.Row()
	if (err == nil) != there {
		return fmt.Errorf("Row: %w, want %v", err, there)
	}
	if !there {
		return nil
	}
	return wantFact(&r.way, &row, &now)
}
