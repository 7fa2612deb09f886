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

// rowids reads rowids, and writes the rows as the sqlite3 shell does, all in one transaction.
func rowids(a *workload.API, db string, in io.Reader, out io.Writer) (err error) {
	queries, err := a.Queries(&workload.Job{DB: db})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, queries.Close()) }()
	q, err := queries.Querier(workload.PathOf, "prepared")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	if err := q.Begin(); err != nil {
		return err
	}
	lines := bufio.NewScanner(bufio.NewReaderSize(in, rowidBuffer))
	w := bufio.NewWriterSize(out, rowidBuffer)
	args := []workload.Value{workload.Int(0)}
	write := func(row workload.Row) error {
		b := append(strconv.AppendInt(w.AvailableBuffer(), args[0].Int, 10), '|')
		_, err := w.Write(append(append(b, row.Bytes(0)...), '\n'))
		return err
	}
	for lines.Scan() {
		if args[0].Int, err = parseRowid(lines.Bytes()); err != nil {
			return fmt.Errorf("a rowid: %w", err)
		}
		if err := q.Query(args, write); err != nil {
			return err
		}
	}
	return errors.Join(lines.Err(), w.Flush(), q.End())
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
