package sqlitefile

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
)

// An exercise reads a database in every way that there is, as far as its budget of rows and bytes
// goes: damaged databases may hold one page for a thousand, each time at another place.
type exercise struct {
	rx     *Rx
	rows   int
	bytes  int64
	sound  bool            // Check has found nothing: every error is a failure, and what is there must be found
	skip   map[string]bool // indexes that cannot be searched by all of their values
	faults []string        // what must not be, if sound
}

var errBudget = errors.New("enough")

func newExercise(rx *Rx) *exercise { return &exercise{rx: rx, rows: 20_000, bytes: 8 << 20} }

// run reads everything that the schema lists. It returns the first error, if any.
func (e *exercise) run() error {
	objects, err := e.rx.Objects()
	e.note(err, "the schema")
	for _, o := range objects {
		var one error
		switch o.Type {
		case "table":
			one = e.table(o.Name)
		case "index":
			one = e.index(o.Name)
		}
		e.note(one, o.Name)
		err = errors.Join(err, one)
	}
	return err
}

// note remembers an error that must not be.
func (e *exercise) note(err error, where string) {
	if err != nil && e.sound && !errors.Is(err, ErrUnsupported) && !errors.Is(err, errBudget) {
		e.faults = append(e.faults, where+": "+err.Error())
	}
}

func (e *exercise) faultf(format string, args ...any) {
	if e.sound {
		e.faults = append(e.faults, fmt.Sprintf(format, args...))
	}
}

func (e *exercise) table(name string) error {
	t, err := e.rx.Table(name)
	if err != nil {
		return err
	}
	rows, err := e.all(t.All())
	if err != nil {
		return err
	}
	back, err := e.all(t.Backward())
	if err != nil {
		return err
	}
	e.compare(name+" backward", rows, reversed(back))
	if err := e.cursor(t.Cursor(), len(rows)); err != nil {
		return err
	}
	if t.WithoutRowid() {
		return e.keyed(t)
	}
	return e.rowids(t, rows)
}

// rowids gets each row by its rowid, and all of them as a range.
func (e *exercise) rowids(t Table, rows []string) error {
	within, err := e.all(t.Range(math.MinInt64, math.MaxInt64))
	if err != nil {
		return err
	}
	e.compare(t.Name()+" as a range", rows, within)
	i := 0
	for row, err := range t.All() {
		if err != nil {
			return err
		}
		got, ok, err := t.Get(row.Rowid())
		if err != nil {
			return err
		}
		text, err := e.text(&got, ok)
		if err != nil {
			return err
		}
		if i < len(rows) && text != rows[i] {
			e.faultf("%s: Get(%d) = %s, want %s", t.Name(), row.Rowid(), text, rows[i])
		}
		i++
	}
	return nil
}

// keyed finds each row of a table WITHOUT ROWID by its primary key.
func (e *exercise) keyed(t Table) error {
	for row, err := range t.All() {
		if err != nil {
			return err
		}
		want, err := e.text(&row, true)
		if err != nil {
			return err
		}
		key, err := keyOf(t, &row)
		if err != nil {
			return err
		}
		got, ok, err := t.Find(key...)
		if err != nil {
			return err
		}
		text, err := e.text(&got, ok)
		if err != nil {
			return err
		}
		if text != want {
			e.faultf("%s: Find(%v) = %s, want %s", t.Name(), key, text, want)
		}
		if e.rows%8 == 0 {
			if _, err := e.all(t.Prefix(key[0])); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyOf returns the values of the primary key of a row.
func keyOf(t Table, row *Row) ([]any, error) {
	var key []any
	for _, k := range t.def.ddl.PrimaryKey {
		v, err := row.Value(k.Column)
		if err != nil {
			return nil, err
		}
		key = append(key, v)
	}
	return key, nil
}

func (e *exercise) index(name string) error {
	x, err := e.rx.Index(name)
	if err != nil {
		return err
	}
	entries, err := e.all(x.All())
	if err != nil {
		return err
	}
	if err := e.cursor(x.Cursor(), len(entries)); err != nil {
		return err
	}
	for row, err := range x.All() {
		if err != nil {
			return err
		}
		if err := e.find(x, &row); err != nil {
			return err
		}
	}
	return nil
}

// find looks up an entry by all of its values.
func (e *exercise) find(x Index, row *Row) error {
	var key []any
	for i := range row.Len() {
		v, err := row.Value(i)
		if err != nil {
			return err
		}
		key = append(key, v)
	}
	if x.def.shape.rowidField >= 0 {
		key = append(key, row.Rowid())
	}
	got, ok, err := x.FindRow(key...)
	if err != nil || e.skip[x.Name()] {
		return err
	}
	want, err := e.text(row, true)
	if err != nil {
		return err
	}
	text, err := e.text(&got, ok)
	if err == nil && text != want {
		e.faultf("%s: FindRow(%v) = %s, want %s", x.Name(), key, text, want)
	}
	if e.rows%8 == 0 && err == nil {
		_, err = e.all(x.Prefix(key...))
	}
	return err
}

// cursor moves to and fro.
func (e *exercise) cursor(c *Cursor, rows int) error {
	n := 0
	ok, err := c.First()
	for ; ok && err == nil; ok, err = c.Next() {
		if n++; n%3 == 0 {
			if back, err := c.Prev(); err != nil || !back {
				e.faultf("Prev of entry %d: %v, %v", n, back, err)
				return err
			}
			if forth, err := c.Next(); err != nil || !forth {
				e.faultf("Next after Prev of entry %d: %v, %v", n, forth, err)
				return err
			}
		}
		if e.rows--; e.rows < 0 {
			return errBudget
		}
	}
	if err == nil && n != rows {
		e.faultf("a cursor meets %d entries, not %d", n, rows)
	}
	return err
}

// all reads all columns of all rows, as texts.
func (e *exercise) all(rows iter.Seq2[Row, error]) (texts []string, err error) {
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		text, err := e.text(&row, true)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// text reads all columns of a row in every way and makes a text of them.
func (e *exercise) text(row *Row, ok bool) (string, error) {
	if !ok {
		return "nothing", nil
	}
	b := fmt.Appendf(nil, "%d:", row.Rowid())
	for i := range row.Len() {
		v, err := row.Value(i)
		if errors.Is(err, ErrUnsupported) {
			continue
		}
		if err != nil {
			return "", err
		}
		if err := e.parts(row, i, v); err != nil {
			return "", err
		}
		b = appendPrint(b, &v.v)
	}
	if e.rows, e.bytes = e.rows-1, e.bytes-int64(len(b)); e.rows < 0 || e.bytes < 0 {
		return "", errBudget
	}
	return string(b), nil
}

// parts reads a value by Size and ReadAt too.
func (e *exercise) parts(row *Row, i int, v Value) error {
	size, err := row.Size(i)
	if err != nil {
		return err
	}
	if size != int64(len(v.Bytes())) {
		e.faultf("column %d has %d bytes, its size is %d", i, len(v.Bytes()), size)
	}
	var buf [7]byte
	n, err := row.ReadAt(i, buf[:], size/2)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if want := v.Bytes()[min(size/2, int64(len(v.Bytes()))):]; err == nil && string(buf[:n]) != string(want[:min(7, len(want))]) {
		e.faultf("ReadAt of column %d: %x, want %x", i, buf[:n], want)
	}
	return err
}

func (e *exercise) compare(what string, want, got []string) {
	if len(got) != len(want) {
		e.faultf("%s: %d rows, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if got[i] != want[i] {
			e.faultf("%s: row %d is %q, want %q", what, i, got[i], want[i])
			return
		}
	}
}

func reversed(s []string) []string {
	r := make([]string, 0, len(s))
	for i := range s {
		r = append(r, s[len(s)-1-i])
	}
	return r
}
