package sqlitefile

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	positionRows   = flag.Int("position.rows", 120, "rows of TestPositions")
	positionStride = flag.Int("position.stride", 29, "TestPositions tries every so manieth combination in each mode; 1 for all")
)

// A fact is a row of the tables of these tests, which both have all facts.
type fact struct {
	id   int64
	g    int64
	k    string
	body []byte
}

const positionSchema = `
	CREATE TABLE r (id INTEGER PRIMARY KEY, g INT, k TEXT, body BLOB);
	CREATE INDEX rk ON r (g, k);
	CREATE TABLE w (id INT, g INT, k TEXT, body BLOB, PRIMARY KEY (g, k, id)) WITHOUT ROWID;
	CREATE INDEX wi ON w (id DESC);
	CREATE TABLE o (id INTEGER PRIMARY KEY, v TEXT);
	CREATE INDEX ov ON o (v)`

// Orders of facts: those of table r, and of index rk and table w, and of index wi.
func byID(a, b fact) int { return cmp.Compare(a.id, b.id) }

func byKey(a, b fact) int {
	return cmp.Or(cmp.Compare(a.g, b.g), cmp.Compare(a.k, b.k), cmp.Compare(a.id, b.id))
}

func byDescending(a, b fact) int { return cmp.Or(cmp.Compare(b.id, a.id), byKey(a, b)) }

// A way is a way to read rows one after the other.
type way struct {
	name  string
	order func(a, b fact) int
	back  bool
	in    func(f fact) bool // nil for all
	rows  func(tx *Tx) (iter.Seq2[Row, error], error)
	fact  func(row *Row) (fact, error) // what the row tells
}

// rowFact returns the fact that a row of r or w is.
func rowFact(row *Row) (f fact, err error) {
	err = row.Scan(&f.id, &f.g, &f.k, &f.body)
	return f, err
}

// entryFact returns what an entry of rk tells.
func entryFact(row *Row) (f fact, err error) {
	f.id = row.Rowid()
	err = row.Scan(&f.g, &f.k)
	return f, err
}

// descendingFact returns what an entry of wi tells.
func descendingFact(row *Row) (f fact, err error) {
	err = row.Scan(&f.id, &f.g, &f.k)
	return f, err
}

type rows = iter.Seq2[Row, error]

// tableWay returns a way to read a table.
func tableWay(table string, order func(a, b fact) int, what string, back bool, in func(f fact) bool, read func(t Table) rows) way {
	return way{table + "." + what, order, back, in, func(tx *Tx) (rows, error) {
		t, err := tx.Rx.Table(table)
		return read(t), err
	}, rowFact}
}

// indexWay returns a way to read an index.
func indexWay(index string, order func(a, b fact) int, what string, back bool, in func(f fact) bool, read func(x Index) rows) way {
	told := entryFact
	if index == "wi" {
		told = descendingFact
	}
	return way{index + "." + what, order, back, in, func(tx *Tx) (rows, error) {
		x, err := tx.Index(index)
		return read(x), err
	}, told}
}

// cursorRows yields the rows that a cursor comes to.
func cursorRows(c *Cursor, back bool) rows {
	return func(yield func(Row, error) bool) {
		first, next := c.First, c.Next
		if back {
			first, next = c.Last, c.Prev
		}
		ok, err := first()
		for ; ok && err == nil; ok, err = next() {
			row, rowErr := c.Row()
			if !yield(row, rowErr) || rowErr != nil {
				return
			}
		}
		if err != nil {
			yield(Row{}, err)
		}
	}
}

// pulled yields what all yields, by way of iter.Pull2.
func pulled(all rows) rows {
	return func(yield func(Row, error) bool) {
		next, stop := iter.Pull2(all)
		defer stop()
		for row, err, ok := next(); ok && yield(row, err); row, err, ok = next() {
		}
	}
}

// ways are all ways to read rows.
func ways() []way {
	inGroup := func(f fact) bool { return f.g == 1 }
	inKeys := func(f fact) bool { return f.g == 1 && f.k >= "2" || f.g > 1 && f.g < 3 }
	inIDs := func(f fact) bool { return f.id >= 200 && f.id <= 900 }
	low, high := Including(1, "2"), Excluding(3)
	return []way{
		tableWay("r", byID, "All", false, nil, Table.All),
		tableWay("r", byID, "Backward", true, nil, Table.Backward),
		tableWay("r", byID, "Range", false, inIDs, func(t Table) rows { return t.Range(200, 900) }),
		tableWay("r", byID, "Cursor", false, nil, func(t Table) rows { return cursorRows(t.Cursor(), false) }),
		tableWay("r", byID, "Cursor back", true, nil, func(t Table) rows { return cursorRows(t.Cursor(), true) }),
		tableWay("r", byID, "Pull", false, nil, func(t Table) rows { return pulled(t.All()) }),
		indexWay("rk", byKey, "All", false, nil, Index.All),
		indexWay("rk", byKey, "Backward", true, nil, Index.Backward),
		indexWay("rk", byKey, "Prefix", false, inGroup, func(x Index) rows { return x.Prefix(1) }),
		indexWay("rk", byKey, "Range", false, inKeys, func(x Index) rows { return x.Range(low, high) }),
		indexWay("rk", byKey, "RangeBackward", true, inKeys, func(x Index) rows { return x.RangeBackward(low, high) }),
		indexWay("rk", byKey, "Cursor", false, nil, func(x Index) rows { return cursorRows(x.Cursor(), false) }),
		tableWay("w", byKey, "All", false, nil, Table.All),
		tableWay("w", byKey, "Backward", true, nil, Table.Backward),
		tableWay("w", byKey, "Prefix", false, inGroup, func(t Table) rows { return t.Prefix(1) }),
		tableWay("w", byKey, "RangeKey", false, inKeys, func(t Table) rows { return t.RangeKey(low, high) }),
		tableWay("w", byKey, "RangeKeyBackward", true, inKeys, func(t Table) rows { return t.RangeKeyBackward(low, high) }),
		tableWay("w", byKey, "Cursor back", true, nil, func(t Table) rows { return cursorRows(t.Cursor(), true) }),
		indexWay("wi", byDescending, "All", false, nil, Index.All),
		indexWay("wi", byDescending, "Backward", true, nil, Index.Backward),
		indexWay("wi", byDescending, "Range", false, inIDs, func(x Index) rows { return x.Range(Including(900), Including(200)) }),
	}
}

// A model is the facts of a database, which a transaction reads and changes.
type model struct {
	tx    *Tx
	facts map[int64]fact
	news  int64 // facts that were inserted
}

// next returns the fact that a way leads to from another one, nil at the start.
func (m *model) next(w *way, from *fact) (best *fact) {
	order := w.order
	if w.back {
		order = func(a, b fact) int { return w.order(b, a) }
	}
	for _, f := range m.facts {
		if w.in != nil && !w.in(f) || from != nil && order(f, *from) <= 0 || best != nil && order(f, *best) >= 0 {
			continue
		}
		best = &f
	}
	return best
}

// newFact returns the fact of a number. The order of the keys is not that of the numbers, and some
// keys go on in overflow pages.
func newFact(id int64, version, size int) fact {
	n := max(id, -id)
	k := fmt.Sprintf("%03d-%d", n*7919%1000, id)
	if id%11 == 0 {
		k += strings.Repeat("x", int(n%700))
	}
	return fact{id, n % 4, k, pattern(int(id)+version, size)}
}

func (m *model) tables() (r, w TableWriter, err error) {
	if r, err = m.tx.Table("r"); err == nil {
		w, err = m.tx.Table("w")
	}
	return r, w, err
}

// put adds or replaces a fact in both tables.
func (m *model) put(f fact) error {
	r, w, err := m.tables()
	if err != nil {
		return err
	}
	if old, ok := m.facts[f.id]; ok && old.k != f.k {
		if _, err := w.DeleteKey(old.g, old.k, old.id); err != nil {
			return err
		}
	}
	m.facts[f.id] = f
	return errors.Join(r.Put(f.id, f.id, f.g, f.k, f.body), w.PutKey(f.id, f.g, f.k, f.body))
}

// set changes the content of a fact, in r by Set.
func (m *model) set(f fact, body []byte) error {
	r, w, err := m.tables()
	if err != nil {
		return err
	}
	f.body = body
	m.facts[f.id] = f
	_, err = r.Set(f.id, 3, body)
	return errors.Join(err, w.PutKey(f.id, f.g, f.k, f.body))
}

// remove deletes a fact, if there is one.
func (m *model) remove(f *fact) error {
	if f == nil {
		return nil
	}
	r, w, err := m.tables()
	if err != nil {
		return err
	}
	delete(m.facts, f.id)
	_, err = r.Delete(f.id)
	_, wErr := w.DeleteKey(f.g, f.k, f.id)
	return errors.Join(err, wErr)
}

// insert adds a fact, unless there is one of that number or there are many.
func (m *model) insert(id int64) error {
	if _, ok := m.facts[id]; ok || m.news > 100 {
		return nil
	}
	m.news++
	return m.put(newFact(id, 1, int(max(id, -id)*31%400)))
}

// A positionMode is how a transaction is used in which rows change while they are read.
type positionMode struct {
	name   string
	spill  int64
	change func(m *model, step int, change func() error) error
}

func positionModes() []positionMode {
	straight := func(_ *model, _ int, change func() error) error { return change() }
	return []positionMode{
		{"straight", 0, straight},
		{"spilled", 16 * 512, straight},
		{"taken back", 0, takenBack},
		{"taken back, spilled", 16 * 512, takenBack},
	}
}

var errPartTaken = errors.New("taken back")

// takenBack lets every other change be one of a part of the transaction that is taken back, by
// Nested or by a savepoint.
func takenBack(m *model, step int, change func() error) error {
	if step%4 == 0 {
		return change()
	}
	before, news := maps.Clone(m.facts), m.news
	if step%4 == 1 {
		return m.tx.Nested(func(*Tx) error { return change() })
	}
	defer func() { m.facts, m.news = before, news }()
	if step%4 == 2 {
		err := m.tx.Nested(func(*Tx) error { return errors.Join(change(), errPartTaken) })
		if err.Error() == errPartTaken.Error() {
			err = nil
		}
		return err
	}
	s, err := m.tx.Savepoint()
	if err != nil {
		return err
	}
	return errors.Join(change(), s.Rollback(), s.Release())
}

// TestPositions reads rows in each way while each change is made, mapped and plain, in transactions
// that spill and in parts that are taken back. A model in memory says which rows are met. All
// combinations:
//
//	go test ./sqlitefile -run TestPositions -position.stride 1 -v
func TestPositions(t *testing.T) {
	t.Parallel()
	first := 0
	for _, mode := range positionModes() {
		for _, journal := range []JournalMode{JournalWAL, JournalDelete} {
			for _, plain := range []bool{false, true} {
				name := fmt.Sprintf("%s/%s,plain=%v", mode.name, map[bool]string{true: "WAL", false: "journal"}[journal == JournalWAL], plain)
				first++
				from := first
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					testPositions(t, mode, from, &Options{Create: true, PageSize: 512, JournalMode: journal, NoMmap: plain, Durability: DurabilityOff, spillBytes: mode.spill})
				})
			}
		}
	}
}

func testPositions(t *testing.T, mode positionMode, first int, o *Options) {
	db := open(t, filepath.Join(t.TempDir(), "db"), o)
	facts := make(map[int64]fact)
	err := db.Update(t.Context(), func(tx *Tx) error {
		m := model{tx: tx, facts: facts}
		err := tx.Exec(positionSchema)
		for i := 0; err == nil && i < *positionRows; i++ {
			err = m.put(newFact(int64(10 + i*1000 / *positionRows), 0, i*37%400))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	wrong, tried := 0, 0
	for i, w := range ways() {
		for j, c := range positionChanges() {
			if (first+i*len(positionChanges())+j)%*positionStride != 0 {
				continue
			}
			tried++
			if err := onePosition(t, db, mode, &w, &c, facts); err != nil {
				if wrong++; wrong <= 20 {
					t.Errorf("%s, %s: %v", w.name, c.name, err)
				}
			}
		}
	}
	report, err := db.Check(t.Context(), nil)
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("%v, %v", report.Problems, err)
	}
	t.Logf("%d of %d combinations are wrong", wrong, tried)
}

// onePosition reads rows in one way while one change is made after each.
func onePosition(t *testing.T, db *DB, mode positionMode, w *way, c *positionChange, facts map[int64]fact) error {
	tx, err := db.BeginUpdate(t.Context())
	if err != nil {
		return err
	}
	defer tx.Rollback()
	m := &model{tx: tx, facts: maps.Clone(facts)}
	all, err := w.rows(tx)
	if err != nil {
		return err
	}
	var at *fact
	step := 0
	for row, err := range all {
		if err != nil {
			return fmt.Errorf("row %d: %w", step, err)
		}
		want := m.next(w, at)
		if want == nil {
			return fmt.Errorf("row %d is one too many", step)
		}
		if err := wantFact(w, &row, want); err != nil {
			return fmt.Errorf("row %d: %w", step, err)
		}
		at = want
		if err := mode.change(m, step, func() error { return c.change(m, w, *at, step) }); err != nil {
			return fmt.Errorf("row %d: the change: %w", step, err)
		}
		if err := wantFact(w, &row, want); err != nil && !errors.Is(err, ErrStale) {
			return fmt.Errorf("row %d after the change: %w", step, err)
		}
		if step++; step > 3000 {
			return errors.New("there is no end")
		}
	}
	if left := m.next(w, at); left != nil {
		return fmt.Errorf("row %d is missing: id %d", step, left.id)
	}
	return m.compare()
}

// wantFact compares a row with the fact that it should be.
func wantFact(w *way, row *Row, want *fact) error {
	got, err := w.fact(row)
	if err != nil {
		return err
	}
	if got.id != want.id || got.g != want.g || got.k != want.k {
		return fmt.Errorf("id %d, %d, %.20q, want id %d, %d, %.20q", got.id, got.g, got.k, want.id, want.g, want.k)
	}
	if row.Len() == 4 && !bytes.Equal(got.body, want.body) {
		return fmt.Errorf("id %d: another body", got.id)
	}
	return nil
}

// compare compares the tables and indexes with the model.
func (m *model) compare() error {
	for _, w := range ways() {
		all, err := w.rows(m.tx)
		if err != nil {
			return err
		}
		var want []fact
		for _, f := range m.facts {
			if w.in == nil || w.in(f) {
				want = append(want, f)
			}
		}
		slices.SortFunc(want, w.order)
		if w.back {
			slices.Reverse(want)
		}
		n := 0
		for row, err := range all {
			if err == nil && n == len(want) {
				err = errors.New("too many rows")
			}
			if err == nil {
				err = wantFact(&w, &row, &want[n])
			}
			if err != nil {
				return fmt.Errorf("afterwards, %s: row %d: %w", w.name, n, err)
			}
			n++
		}
		if n != len(want) {
			return fmt.Errorf("afterwards, %s: %d rows, want %d", w.name, n, len(want))
		}
	}
	return nil
}
