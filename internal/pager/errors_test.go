package pager

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/foliofs/folio/internal/dberr"
)

// TestErrorsJoin looks at the text of several errors in one.
func TestErrorsJoin(t *testing.T) {
	t.Parallel()
	db := &Pager{core: core{path: "a.db"}}
	write := db.PathError("write", errors.New("disk failed"))
	for _, tt := range []struct {
		err  error
		want string
	}{
		{dberr.Join(nil, nil), "<nil>"},
		{dberr.Join(nil, write), "write a.db: disk failed"},
		{dberr.Join(write, db.PathError("sync", os.ErrDeadlineExceeded)), "write a.db: disk failed; then sync: i/o timeout"},
		{dberr.Join(write, dberr.Join(write, dberr.Explain(write)), nil), "write a.db: disk failed; then write: disk failed; then write: disk failed"},
		{dberr.Join(write, (&Rx{core: &db.core}).Corrupt(7, "odd")), "write a.db: disk failed; then database is corrupt: page 7: odd"},
		{db.PathError("view", dberr.Join((&Rx{core: &db.core}).Corrupt(0, "odd"), write)), "a.db: database is corrupt: odd; then write: disk failed"},
	} {
		if got := fmt.Sprint(tt.err); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
	both := dberr.Join(write, os.ErrDeadlineExceeded)
	if !errors.Is(both, os.ErrDeadlineExceeded) || errors.Is(both, dberr.ErrBusy) {
		t.Error("what a joined error matches")
	}
}
