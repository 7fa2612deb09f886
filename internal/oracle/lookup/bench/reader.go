package bench

import (
	"fmt"

	"github.com/foliofs/folio/internal/oracle/folder/paths"
)

// A reader is one goroutine: its connection and its stream of random rows.
type reader struct {
	conn    Conn
	set     *paths.Set
	byPath  bool
	rand    paths.Rand
	checked int // answers that were compared in the last call of read
	buf     [paths.MaxLen]byte
}

// read looks up n random rows and compares each answer.
func (r *reader) read(n int) error {
	r.checked = 0
	for range n {
		id := r.rand.ID(r.set.Len())
		if err := r.lookup(id); err != nil {
			return err
		}
		r.checked++
	}
	return nil
}

func (r *reader) lookup(id int64) error {
	want := r.set.Path(id)
	if r.byPath {
		got, err := r.conn.ID(want)
		if err == nil && got != id {
			err = fmt.Errorf("path %q: row %d, want %d", want, got, id)
		}
		return err
	}
	got, err := r.conn.Path(id, r.buf[:0])
	if err == nil && string(got) != want {
		err = fmt.Errorf("row %d: path %q, want %q", id, got, want)
	}
	return err
}
