package harness

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/foliofs/folio/lab/workload"
)

// rowidBuffer is how much is read and written at once.
const rowidBuffer = 256 << 10

// rowids reads rowids, and writes the rows as the sqlite3 shell does, all in one transaction of one
// reader.
func rowids(a *workload.API, db string, in io.Reader, out io.Writer) (err error) {
	lookups, err := a.Lookups(&workload.Job{DB: db, Values: workload.Values{"mmap": "0"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lookups.Close()) }()
	r, err := lookups.Reader("prepared")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := r.Begin(); err != nil {
		return err
	}
	lines := bufio.NewScanner(bufio.NewReaderSize(in, rowidBuffer))
	w := bufio.NewWriterSize(out, rowidBuffer)
	var row []byte
	for lines.Scan() {
		id, err := parseRowid(lines.Bytes())
		if err != nil {
			return fmt.Errorf("a rowid: %w", err)
		}
		if row, err = r.Path(id, append(strconv.AppendInt(row[:0], id, 10), '|')); err != nil {
			return err
		}
		row = append(row, '\n')
		if _, err := w.Write(row); err != nil {
			return err
		}
	}
	return errors.Join(lines.Err(), w.Flush(), r.End())
}

// parseRowid reads a number that has no more than digits. Anything else is left to strconv.
func parseRowid(line []byte) (int64, error) {
	var id int64
	for _, c := range line {
		if c < '0' || c > '9' || len(line) > 18 {
			return strconv.ParseInt(string(line), 10, 64)
		}
		id = 10*id + int64(c-'0')
	}
	return id, nil
}
