package sqlitefile

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/faultfs"
)

// A transaction that changes nothing, or fails, is answered only once what it has seen is
// committed: else it would say what never was true.
func TestUncommitted(t *testing.T) {
	errThere := errors.New("it is there")
	for name, second := range map[string]func(tx *Tx) error{
		"finds a row": func(tx *Tx) error {
			table, err := tx.Table("t")
			if err != nil {
				return err
			}
			if _, found, err := table.Get(7); err != nil || found {
				return err
			}
			return table.Put(7, nil, "mine")
		},
		"fails by a row": func(tx *Tx) error {
			table, err := tx.Table("t")
			if err != nil {
				return err
			}
			if _, found, err := table.Get(7); err != nil || !found {
				return err
			}
			return errThere
		},
		"finds a table": func(tx *Tx) error { return tx.Exec("CREATE TABLE IF NOT EXISTS u(a)") },
	} {
		t.Run(name, func(t *testing.T) {
			for _, fails := range []bool{true, false} {
				sys := faultfs.New(osfile.OS)
				_, db := logged(t, 2, Options{system: sys})
				writing, release := make(chan struct{}), make(chan struct{})
				var once sync.Once
				f := faultfs.Fault{Ops: faultfs.Write, Suffix: "-wal", N: 1, Sticky: true, Do: func() { once.Do(func() { close(writing); <-release }) }}
				if fails {
					f.Err = syscall.ENOSPC
				}
				sys.Arm(f)
				answers := make(chan error)
				update := func(fn func(tx *Tx) error) { answers <- db.Update(context.Background(), fn) }
				go update(func(tx *Tx) error { return dberr.Join(putRow(7, "other")(tx), tx.Exec("CREATE TABLE u(a)")) })
				<-writing
				go update(func(tx *Tx) error { err := second(tx); close(release); return err })
				<-release
				a, b := <-answers, <-answers
				switch {
				case fails && !(errors.Is(a, ErrFull) && errors.Is(b, ErrFull)):
					t.Errorf("the first one fails: %v, %v", a, b)
				case !fails && name != "fails by a row" && (a != nil || b != nil):
					t.Errorf("%v, %v", a, b)
				case !fails && name == "fails by a row" && (errors.Is(a, errThere) == errors.Is(b, errThere) || a != nil && b != nil):
					t.Errorf("%v, %v", a, b)
				}
			}
		})
	}
}
