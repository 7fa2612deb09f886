// Rowids reads rowids from standard input, one a line, and prints each row that is there as the sqlite3 shell would: id|path.
//
//	rowids DATABASE < rowids.txt
//
// All rows come out of one snapshot.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/foliofs/folio/sqlitefile"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "rowids:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: rowids DATABASE < rowids.txt")
	}
	db, err := sqlitefile.Open(args[0], nil)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.View(context.Background(), func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("folder_paths")
		if err != nil {
			return err
		}
		return answer(t, in, out)
	})
}

// bufferSize is how much is read and written at once.
const bufferSize = 256 << 10

func answer(t sqlitefile.Table, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(bufio.NewReaderSize(in, bufferSize))
	w := bufio.NewWriterSize(out, bufferSize)
	for lines.Scan() {
		id, err := parse(lines.Bytes())
		if err != nil {
			return err
		}
		row, ok, err := t.Get(id)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		path, err := row.Bytes(1)
		if err != nil {
			return err
		}
		b := strconv.AppendInt(w.AvailableBuffer(), id, 10)
		b = append(b, '|')
		b = append(b, path...)
		if _, err := w.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return w.Flush()
}

// parse reads a number that has no more than digits. Anything else is left to strconv.
func parse(line []byte) (int64, error) {
	var id int64
	for _, c := range line {
		if c < '0' || c > '9' || len(line) > 18 {
			return strconv.ParseInt(string(line), 10, 64)
		}
		id = 10*id + int64(c-'0')
	}
	return id, nil
}
