package sqlitefile

import (
	"strconv"
	"strings"

	"github.com/foliofs/folio/internal/record"
)

// sequence returns the largest rowid that a table with AUTOINCREMENT ever had, as far as SQLite
// cares: 0 at first. Its last rowid is last.
func (tx *Tx) sequence(table string, last int64) (int64, error) {
	row, ok, err := tx.sequenceRow(table)
	if err != nil {
		return 0, err
	}
	if !ok {
		return max(last, 0), nil
	}
	v, err := row.value(1)
	return max(sequenceNumber(v), last), err
}

// sequenceNumber returns the number that SQLite reads in a value of sqlite_sequence, which every
// program can write to: a text begins with a number, or is 0.
func sequenceNumber(v record.Value) int64 {
	if v.Kind() != record.Text && v.Kind() != record.Blob {
		return v.Int64()
	}
	text := strings.TrimLeft(v.Text(), " \t\n\v\f\r")
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && (text[0] == '-' || text[0] == '+')) {
		end++
	}
	n, _ := strconv.ParseInt(text[:end], 10, 64) // the nearest there is if it is too large
	return n
}

func (tx *Tx) sequenceRow(table string) (row Row, ok bool, err error) {
	t, err := tx.Rx.Table("sqlite_sequence")
	if err != nil {
		return row, false, err
	}
	for row, err := range t.All() {
		if err != nil {
			return row, false, err
		}
		name, err := row.value(0)
		if err != nil || name.Text() == table {
			return row, err == nil, err
		}
	}
	return row, false, nil
}

// setSequence notes a rowid of a table with AUTOINCREMENT, as long as it is larger than what is
// noted: 0 at first.
func (tx *Tx) setSequence(table string, rowid int64) error {
	t, err := tx.Table("sqlite_sequence")
	if err != nil {
		return err
	}
	row, ok, err := tx.sequenceRow(table)
	if err != nil {
		return err
	}
	if !ok {
		_, err := t.Insert(table, max(rowid, 0))
		return err
	}
	v, err := row.value(1)
	if err != nil || sequenceNumber(v) >= rowid {
		return err
	}
	_, err = t.Update(row.rowid, table, rowid)
	return err
}
