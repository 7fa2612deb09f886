package bench

import (
	"fmt"

	"github.com/foliofs/folio/internal/oracle/folder/paths"
)

// A reader is one goroutine: its connection, and the rows that it will look up with the right answers. They lie in the order
// of the reads, so that checking costs next to nothing and no contender's time is that of the check.
type reader struct {
	conn    Conn
	byPath  bool
	list    *paths.List
	checked int // answers that were compared in the last call of read
	buf     [paths.MaxLen]byte
}

// read looks up the whole list and compares each answer.
func (r *reader) read() error {
	r.checked = 0
	for i := range r.list.Len() {
		id, path := r.list.At(i)
		if err := r.lookup(id, path); err != nil {
			return err
		}
		r.checked++
	}
	return nil
}

func (r *reader) lookup(id int64, path string) error {
	if r.byPath {
		got, err := r.conn.ID(path)
		if err == nil && got != id {
			err = fmt.Errorf("path %q: row %d, want %d", path, got, id)
		}
		return err
	}
	got, err := r.conn.Path(id, r.buf[:0])
	if err == nil && string(got) != path {
		err = fmt.Errorf("row %d: path %q, want %q", id, got, path)
	}
	return err
}
