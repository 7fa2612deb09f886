package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/foliofs/folio/lab/flock"
)

// A Writer appends records to a result file. Each record is written at once and as a whole. So a
// reader finds all records, except perhaps the last, however the run ended. No other process writes
// to the file at the same time. A Writer is not safe for concurrent use.
type Writer struct {
	f    *os.File
	size int64 // of all records
}

// ErrBusy says that another run is writing to a result file.
var ErrBusy = errors.New("another run is writing to it")

// Create makes a new result file. If it exists, the error matches fs.ErrExist.
func Create(path string) (*Writer, error) { return open(path, os.O_CREATE|os.O_EXCL) }

// Resume opens a result file to append to it. It removes a line that was cut off at the end.
func Resume(path string) (*Writer, error) { return open(path, 0) }

func open(path string, flags int) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|flags, 0o666)
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f}
	if mine, err := flock.Try(f); err == nil && !mine {
		return nil, errors.Join(&os.PathError{Op: "open", Path: path, Err: ErrBusy}, f.Close())
	}
	if err := w.cutTail(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return w, nil
}

// cutTail truncates a file after its last line break.
func (w *Writer) cutTail() error {
	data, err := io.ReadAll(w.f)
	if err != nil {
		return err
	}
	w.size = int64(bytes.LastIndexByte(data, '\n') + 1)
	return w.f.Truncate(w.size)
}

// Write appends one record. If that fails, for example because the disk is full, nothing of the
// record stays in the file.
func (w *Writer) Write(r Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	n, err := w.f.Write(append(line, '\n'))
	if err != nil {
		return errors.Join(err, w.f.Truncate(w.size))
	}
	w.size += int64(n)
	return nil
}

// Remove closes the file and removes it.
func (w *Writer) Remove() error { return errors.Join(w.f.Close(), os.Remove(w.f.Name())) }

// Close syncs and closes the file.
func (w *Writer) Close() error { return errors.Join(w.f.Sync(), w.f.Close()) }

// maxLine is the longest line that is read: more than any record needs, and little enough to refuse
// a file that is none.
const maxLine = 16 << 20

// ReadFile reads a whole result file. A last line that was cut off is passed over; any other line
// that is no record is an error that names it.
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
	s := new(Set)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	lines.Split(wholeLines)
	number := 1
	for ; lines.Scan(); number++ {
		if err := s.addLine(lines.Bytes()); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	switch {
	case errors.Is(lines.Err(), bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d: %w", number, errNotResults)
	case lines.Err() != nil:
		return nil, lines.Err()
	}
	return s, s.whole()
}

// wholeLines splits at line breaks, and drops a line that was cut off at the end.
func wholeLines(data []byte, _ bool) (advance int, line []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	return 0, nil, nil
}

var errNotResults = errors.New("not a result file of the laboratory, as run writes them")
