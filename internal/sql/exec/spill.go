package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/foliofs/folio/internal/extsort"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// SortMemory is how many bytes of rows a sort or the groups of a query keep in memory unless
// another limit is set. The others go to a file without a name.
const SortMemory = 64 << 20

// A spill sorts rows that are too many for memory. Equal rows stay in the order in which they came.
//
// A record of it has the values by which it is sorted, the number of the row, and then the row.
type spill struct {
	space   *extsort.Space
	sorter  *extsort.Sorter
	rows    merger
	width   int // of the values to sort by, the number included
	columns int // of a record
	count   int64
	values  []record.Value
	buf     []byte
}

// A merger yields records in order.
type merger interface {
	Peek() []byte
	Drop() error
}

// newSpill returns a spill that is closed with the statement.
func (m *machine) newSpill(order record.Order) *spill {
	s := &spill{space: extsort.New(context.Background(), "", m.limit()/2), width: len(order) + 1}
	s.sorter = s.space.Sorter(append(order, record.KeyColumn{}))
	m.spills = append(m.spills, s)
	return s
}

// drop removes the file of a spill that is read no more; s may be nil.
func (m *machine) drop(s *spill) {
	if s != nil {
		_ = s.space.Close()
		m.spills = slices.DeleteFunc(m.spills, func(t *spill) bool { return t == s })
	}
}

// limit is how many bytes of rows may be in memory. A quarter of it is for the rows before a spill
// begins, half for a spill, and the rest for garbage.
func (m *machine) limit() int {
	if m.sortMemory > 0 {
		return m.sortMemory
	}
	return SortMemory
}

// closeSpills removes the files.
func (m *machine) closeSpills() {
	for _, s := range m.spills {
		_ = s.space.Close() // of a file that nothing reads any more
	}
	m.spills = nil
}

// add adds a row. The key has a value for each column of the order.
func (s *spill) add(key, row []record.Value) error {
	s.count++
	s.values = append(append(append(s.values[:0], key...), record.OfInt(s.count)), row...)
	s.columns = len(s.values)
	s.buf = record.Append(s.buf[:0], s.values...)
	b, err := s.sorter.Add(len(s.buf))
	copy(b, s.buf)
	return spillError(err)
}

// ErrSpill says that a temporary file could not be written or read.
var ErrSpill = errors.New("the rows of a sort or of groups go to a temporary file, in the directory that TMPDIR names")

func spillError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrSpill, err)
}

// sort ends the adding.
func (s *spill) sort() (err error) {
	s.space.Prepare()
	s.rows, err = s.sorter.Merge()
	return spillError(err)
}

// next returns the next row with its key in front, in memory of its own, or nil at the end.
func (s *spill) next() ([]record.Value, error) {
	b := s.rows.Peek()
	if b == nil {
		return nil, nil
	}
	row := make([]record.Value, s.columns)
	r := record.Read(append([]byte(nil), b...))
	for i := range row {
		row[i] = r.Next().Value()
	}
	return row, spillError(s.rows.Drop())
}

// memoryOf estimates the memory of a row.
func memoryOf(row []record.Value) int {
	n := 24 * (len(row) + 1)
	for _, v := range row {
		if k := v.Kind(); k == record.Text || k == record.Blob {
			n += len(v.Bytes())
		}
	}
	return n
}

// keyColumn is a column of an order by a collation.
func keyColumn(c value.Collation, desc bool) record.KeyColumn {
	k := record.KeyColumn{Desc: desc}
	switch c {
	case value.NoCase:
		k.Collation = record.NoCase
	case value.RTrim:
		k.Collation = record.RTrim
	}
	return k
}
