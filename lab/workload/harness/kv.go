package harness

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/foliofs/folio/lab/workload"
)

// A KV is a store of keys and values with transactions.
type KV interface {
	// Update calls fn with a transaction and commits it as the group of the job demands. It may
	// call fn again.
	Update(fn func(tx KVTx) error) error
	View(fn func(tx KVTx) error) error
	Settings() (map[string]string, error)
	Close() error
}

// A KVTx is a transaction. Its results are valid until the next call of it.
type KVTx interface {
	Get(key []byte) ([]byte, error) // nil if there is none
	Put(key, value []byte) error
	Delete(key []byte) error
	// Scan calls fn for every key with the prefix, in their order.
	Scan(prefix []byte, fn func(key, value []byte) error) error
}

// KVStore lets an API do all workloads on a store of keys and values, which open makes new.
func KVStore(a workload.API, open func(j *workload.Job) (KV, error)) workload.API {
	a.Kind, a.Tables = "kv", allTables
	a.Rows = func(j *workload.Job, t *workload.Table) (workload.Rows, error) {
		kv, err := open(j)
		return kvRows{kv, t}, err
	}
	a.Tree = func(j *workload.Job) (workload.Tree, error) { kv, err := open(j); return kvTree{kv}, err }
	return a
}

var allTables = []*workload.Table{workload.TaskTable, workload.PairTable, workload.ItemTable}

// kvRows keeps the rows of a table by their keys, and indexes, as a program does that needs the
// features of SQL. A row is stored below rowKeys and its number. Its entry in the index of column i
// is indexKeys + i, the value, and the number.
type kvRows struct {
	KV
	table *workload.Table
}

// The first bytes of keys.
const (
	rowKeys   = 'r'
	indexKeys = '0' // plus the column
)

func (k kvRows) Busy() int64 { return 0 }

func (k kvRows) Session() (workload.RowSession, error) { return kvSession{k}, nil }

type kvSession struct{ kvRows }

// Close leaves the store open.
func (kvSession) Close() error { return nil }

func rowKey(n int64) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, 9), rowKeys), uint64(n))
}

// rowNumber is the number at the end of a key.
func rowNumber(key []byte) int64 { return int64(binary.BigEndian.Uint64(key[len(key)-8:])) }

// indexKey returns the entry of a row in the index of a column. Numbers are in the order of their
// bytes, as none is negative; texts end with a zero, so that a text comes before those it begins.
func indexKey(column int, row []workload.Value) []byte {
	v := row[column]
	key := append(make([]byte, 0, len(v.Text)+18), indexKeys+byte(column))
	if v.Kind == workload.Integer {
		key = binary.BigEndian.AppendUint64(key, uint64(v.Int))
	} else {
		key = append(append(key, v.Text...), 0)
	}
	return binary.BigEndian.AppendUint64(key, uint64(row[0].Int))
}

// encode writes a row without its number: integers with eight bytes, and all else with its length
// in front, except the last column.
func encode(row []workload.Value) []byte {
	if len(row) == 2 && row[1].Kind == workload.Blob {
		return row[1].Bytes
	}
	size := 0
	for _, v := range row[1:] {
		size += 8 + len(v.Text) + len(v.Bytes)
	}
	b := make([]byte, 0, size)
	for i, v := range row[1:] {
		if v.Kind == workload.Integer {
			b = binary.BigEndian.AppendUint64(b, uint64(v.Int))
			continue
		}
		if i+2 < len(row) {
			b = binary.AppendUvarint(b, uint64(len(v.Text)+len(v.Bytes)))
		}
		b = append(append(b, v.Text...), v.Bytes...)
	}
	return b
}

var errRow = errors.New("a row that is cut off")

// decode reads a row, which keeps nothing of b.
func (k kvRows) decode(n int64, b []byte) (kvRow, error) {
	row := kvRow{workload.Int(n)}
	for i, c := range k.table.Columns[1:] {
		if c.Kind == workload.Integer {
			if len(b) < 8 {
				return nil, errRow
			}
			row, b = append(row, workload.Int(int64(binary.BigEndian.Uint64(b)))), b[8:]
			continue
		}
		size, head := uint64(len(b)), 0
		if i+2 < len(k.table.Columns) {
			size, head = binary.Uvarint(b)
		}
		if head < 0 || uint64(len(b)-head) < size {
			return nil, errRow
		}
		cell := b[head:][:size]
		b = b[head:][size:]
		if c.Kind == workload.Text {
			row = append(row, workload.Str(string(cell)))
		} else {
			row = append(row, workload.Bytes(bytes.Clone(cell)))
		}
	}
	return row, nil
}

// A kvRow is a decoded row.
type kvRow []workload.Value

func (r kvRow) Int(column int) int64 { return r[column].Int }

func (r kvRow) Bytes(column int) []byte {
	if r[column].Kind == workload.Text {
		return []byte(r[column].Text)
	}
	return r[column].Bytes
}

func (s kvSession) Put(row []workload.Value) error {
	return s.Update(func(tx KVTx) error { return s.put(tx, row) })
}

func (s kvSession) put(tx KVTx, row []workload.Value) error {
	err := tx.Put(rowKey(row[0].Int), encode(row))
	for i, c := range s.table.Columns {
		if c.Indexed && err == nil {
			err = tx.Put(indexKey(i, row), nil)
		}
	}
	return err
}

// get returns the row with a number, which must be there.
func (s kvSession) get(tx KVTx, n int64) (kvRow, error) {
	b, err := tx.Get(rowKey(n))
	if err != nil {
		return nil, err
	}
	if b == nil {
		return nil, fmt.Errorf("no row %d", n)
	}
	return s.decode(n, b)
}

// Set writes the whole row, as there is no way to write less.
func (s kvSession) Set(key int64, column int, v workload.Value) error {
	return s.Update(func(tx KVTx) error {
		row, err := s.get(tx, key)
		if err != nil {
			return err
		}
		if s.table.Columns[column].Indexed {
			err = tx.Delete(indexKey(column, row))
		}
		row[column] = v
		if s.table.Columns[column].Indexed && err == nil {
			err = tx.Put(indexKey(column, row), nil)
		}
		if err != nil {
			return err
		}
		return tx.Put(rowKey(key), encode(row))
	})
}

func (s kvSession) Delete(key int64) error {
	return s.Update(func(tx KVTx) error {
		row, err := s.get(tx, key)
		for i, c := range s.table.Columns {
			if c.Indexed && err == nil {
				err = tx.Delete(indexKey(i, row))
			}
		}
		if err != nil {
			return err
		}
		return tx.Delete(rowKey(key))
	})
}

func (s kvSession) Load(n int, fn func(i int) []workload.Value) error {
	return s.Update(func(tx KVTx) error {
		for i := range n {
			if err := s.put(tx, fn(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s kvSession) Each(fn func(row workload.Row) error) error {
	return s.View(func(tx KVTx) error {
		return tx.Scan([]byte{rowKeys}, func(key, value []byte) error {
			row, err := s.decode(rowNumber(key), value)
			if err != nil {
				return err
			}
			return fn(row)
		})
	})
}

func (s kvSession) By(column int, fn func(key int64) error) error {
	return s.View(func(tx KVTx) error {
		return tx.Scan([]byte{indexKeys + byte(column)}, func(key, _ []byte) error { return fn(rowNumber(key)) })
	})
}
