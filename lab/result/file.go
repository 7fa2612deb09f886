package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// A Writer appends records to a result file. Each is written at once and as a whole, so that whoever reads the file later,
// after whatever end of the run, finds all records but perhaps the last. It is not safe for concurrent use.
type Writer struct{ f *os.File }

// Create makes a new result file; one that exists is an error that matches fs.ErrExist.
func Create(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	return &Writer{f}, nil
}

// Resume opens a result file to append to it. A line that was cut off at the end is taken away.
func Resume(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	if err := cutTail(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Writer{f}, nil
}

// cutTail truncates a file after its last line break.
func cutTail(f *os.File) error {
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	return f.Truncate(int64(bytes.LastIndexByte(data, '\n') + 1))
}

// Write appends one record.
func (w *Writer) Write(r Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = w.f.Write(append(line, '\n'))
	return err
}

// Close syncs and closes the file.
func (w *Writer) Close() error { return errors.Join(w.f.Sync(), w.f.Close()) }

// maxLine is the longest line that is read: more than any record needs, and little enough to refuse a file that is none.
const maxLine = 16 << 20

// ReadFile reads a whole result file. A last line that was cut off is passed over; any other line that is no record is an error
// that names it.
func ReadFile(path string) (*Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Read reads records until the end.
func Read(r io.Reader) (*Set, error) {
	s := newSet()
	lines := bufio.NewReaderSize(r, 1<<16)
	for number := 1; ; number++ {
		line, err := readLine(lines)
		if err == io.EOF {
			return s, s.whole()
		}
		if err == nil {
			err = s.addLine(line)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
}

// readLine returns the next line that ends in a line break; io.EOF if there is none.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxLine {
			return nil, errNotResults
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

var errNotResults = errors.New("not a result file of the laboratory")
