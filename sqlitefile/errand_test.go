package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// A crowd are callers of Update who all come while another transaction runs.
type crowd struct {
	db   *DB
	free chan struct{} // closed to let that one end
	wg   sync.WaitGroup
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{db: open(t, filepath.Join(t.TempDir(), "t.db"), &Options{Create: true, JournalMode: JournalWAL}), free: make(chan struct{})}
	if err := c.db.Exec(t.Context(), "CREATE TABLE t(a INTEGER PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	runs := make(chan struct{})
	c.wg.Go(func() {
		update(t, c.db, func(*Tx) error {
			close(runs)
			<-c.free
			return nil
		})
	})
	<-runs
	return c
}

// join calls fn, which calls Update, and returns once it waits.
func (c *crowd) join(fn func()) {
	before := c.db.pager.Probe().Waiting()
	c.wg.Go(fn)
	for c.db.pager.Probe().Waiting() == before {
		runtime.Gosched()
	}
}

// leave lets everybody go on and waits for them.
func (c *crowd) leave() {
	close(c.free)
	c.wg.Wait()
}

func insert(id int64) func(tx *Tx) error {
	return func(tx *Tx) error {
		table, err := tx.Table("t")
		if err == nil {
			_, err = table.Insert(id)
		}
		return err
	}
}

// rows returns the rowids of table t.
func (c *crowd) rows(t *testing.T) (ids []int64) {
	t.Helper()
	err := c.db.View(t.Context(), func(rx *Rx) error {
		table, err := rx.Table("t")
		if err != nil {
			return err
		}
		for row, err := range table.All() {
			if err != nil {
				return err
			}
			ids = append(ids, row.Rowid())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestErrands: each of those who waited gets what became of its own transaction.
func TestErrands(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	wrong := errors.New("wrong")
	errs := make([]error, 60)
	for i := range errs {
		c.join(func() {
			errs[i] = c.db.Update(context.Background(), func(tx *Tx) error {
				if err := insert(int64(i))(tx); err != nil || i%3 > 0 {
					return err
				}
				return fmt.Errorf("%d: %w", i, wrong)
			})
		})
	}
	c.leave()
	for i, err := range errs {
		switch {
		case i%3 > 0 && err != nil:
			t.Errorf("%d: %v", i, err)
		case i%3 == 0 && (!errors.Is(err, wrong) || err.Error() != fmt.Sprintf("%d: wrong", i)):
			t.Errorf("%d: %v, want its own error", i, err)
		}
	}
	ids := c.rows(t)
	if len(ids) != 40 {
		t.Errorf("%d rows, want 40: %v", len(ids), ids)
	}
	for _, id := range ids {
		if id%3 == 0 {
			t.Errorf("row %d is of a transaction that failed", id)
		}
	}
}

// TestErrandPanics: a panic goes on where the caller is, and nowhere else.
func TestErrandPanics(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	var got any
	c.join(func() {
		defer func() { got = recover() }()
		_ = c.db.Update(context.Background(), func(tx *Tx) error {
			_ = insert(1)(tx)
			panic("of the first")
		})
	})
	c.join(func() { update(t, c.db, insert(2)) })
	c.leave()
	if got != "of the first" {
		t.Errorf("the caller recovered %v", got)
	}
	if ids := c.rows(t); len(ids) != 1 || ids[0] != 2 {
		t.Errorf("rows %v, want 2 alone", ids)
	}
}

// TestErrandExits: what ends the goroutine in fn, as FailNow of a test does, ends that of its
// caller.
func TestErrandExits(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	returned, ended := false, false
	c.join(func() {
		defer func() { ended = true }()
		_ = c.db.Update(context.Background(), func(tx *Tx) error {
			_ = insert(1)(tx)
			runtime.Goexit()
			return nil
		})
		returned = true
	})
	c.join(func() { update(t, c.db, insert(2)) })
	c.leave()
	if returned || !ended {
		t.Error("the caller went on")
	}
	update(t, c.db, insert(3))
	if ids := c.rows(t); len(ids) != 2 {
		t.Errorf("rows %v, want 2 and 3", ids)
	}
}

// TestErrandWithdrawn: a transaction whose ctx is cancelled while it waits never runs.
func TestErrandWithdrawn(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	ctx, cancel := context.WithCancel(t.Context())
	ran := false
	got := make(chan error, 1)
	c.join(func() {
		got <- c.db.Update(ctx, func(*Tx) error {
			ran = true
			return nil
		})
	})
	c.join(func() { update(t, c.db, insert(2)) })
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("Update: %v", err)
	}
	c.leave()
	if ran {
		t.Error("it ran nevertheless")
	}
	if ids := c.rows(t); len(ids) != 1 {
		t.Errorf("rows %v, want 2 alone", ids)
	}
}
