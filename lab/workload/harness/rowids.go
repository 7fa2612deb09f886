package harness

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// rowids answers rowids by one statement in one transaction.
func (d Driver) rowids(db string, in io.Reader, out io.Writer) (err error) {
	c, err := d.Open(db, Read)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	s, err := c.Prepare(selectPath, textColumn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := exec(c, "BEGIN"); err != nil {
		return err
	}
	var args [1]Value
	var id int64
	return errors.Join(Rowids(in, out, func(n int64, w *bufio.Writer) error {
		id, args[0] = n, Int(n)
		return s.Run(args[:], func(r Row) error { return WriteRow(w, id, r.Bytes(0)) })
	}), exec(c, "COMMIT"))
}

// rowidBuffer is how much is read and written at once.
const rowidBuffer = 256 << 10

// Rowids calls answer for every rowid that it reads.
func Rowids(in io.Reader, out io.Writer, answer func(id int64, w *bufio.Writer) error) error {
	lines := bufio.NewScanner(bufio.NewReaderSize(in, rowidBuffer))
	w := bufio.NewWriterSize(out, rowidBuffer)
	for lines.Scan() {
		id, err := parseRowid(lines.Bytes())
		if err != nil {
			return fmt.Errorf("a rowid: %w", err)
		}
		if err := answer(id, w); err != nil {
			return err
		}
	}
	return errors.Join(lines.Err(), w.Flush())
}

// WriteRow writes a row as the sqlite3 shell does.
func WriteRow(w *bufio.Writer, id int64, path []byte) error {
	b := append(strconv.AppendInt(w.AvailableBuffer(), id, 10), '|')
	_, err := w.Write(append(append(b, path...), '\n'))
	return err
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
