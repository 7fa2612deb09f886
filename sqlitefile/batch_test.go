package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/foliofs/folio/internal/must"
)

// A batchCrowd is callers of Batch that all come while another transaction runs.
type batchCrowd struct{ *crowd }

func newBatchCrowd(t *testing.T) batchCrowd {
	t.Helper()
	return batchCrowd{newCrowd(t)}
}

// join calls fn, which calls Batch, and returns once it waits: the first one to lead, the others
// for it.
func (c batchCrowd) join(fn func()) {
	b := &c.db.batches
	count := func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.waiting)
	}
	before, first := count(), !c.led()
	if first {
		c.crowd.join(fn) // the leader waits as one of Update
		return
	}
	c.wg.Go(fn)
	for count() == before {
		runtime.Gosched()
	}
}

func (c batchCrowd) led() bool {
	b := &c.db.batches
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.led
}

// TestBatchMany lets more calls come together than one transaction takes.
func TestBatchMany(t *testing.T) {
	t.Parallel()
	c := newBatchCrowd(t)
	const callers = 5 * maxBatch / 2
	before := c.db.Stats().Transactions
	for i := range int64(callers) {
		c.join(func() {
			if err := c.db.Batch(context.Background(), insert(i)); err != nil {
				t.Error(err)
			}
		})
	}
	c.leave()
	if ids := c.rows(t); len(ids) != callers {
		t.Errorf("%d rows, want %d", len(ids), callers)
	}
	if n := c.db.Stats().Transactions - before; n > 10 {
		t.Errorf("%d transactions for %d changes", n, callers)
	}
}

// TestBatchErrors lets some functions of a batch fail, and one panic: each caller gets what became
// of its own change.
func TestBatchErrors(t *testing.T) {
	t.Parallel()
	for _, panics := range []bool{false, true} {
		c := newBatchCrowd(t)
		wrong := errors.New("wrong")
		const callers = 60
		errs, recovered, runs := make([]error, callers), make([]any, callers), make([]int, callers)
		for i := range errs {
			c.join(func() {
				defer func() { recovered[i] = recover() }()
				errs[i] = c.db.Batch(context.Background(), func(tx *Tx) error {
					runs[i]++
					err := insert(int64(i))(tx)
					switch {
					case err != nil || i%7 != 3:
						return err
					case panics:
						panic(i)
					}
					return fmt.Errorf("%d: %w", i, wrong)
				})
			})
		}
		c.leave()
		for i, err := range errs {
			failed := i%7 == 3
			switch {
			case runs[i] == 0 && recovered[i] == nil || runs[i] > 2:
				t.Errorf("%d: ran %d times", i, runs[i])
			case panics && failed:
				if recovered[i] != i {
					t.Errorf("%d: recovered %v", i, recovered[i])
				}
			case recovered[i] != nil:
				t.Errorf("%d: panicked with %v", i, recovered[i])
			case failed && (!errors.Is(err, wrong) || err.Error() != fmt.Sprintf("%d: wrong", i)):
				t.Errorf("%d: %v, want its own error", i, err)
			case !failed && err != nil:
				t.Errorf("%d: %v", i, err)
			}
		}
		for _, id := range c.rows(t) {
			if id%7 == 3 {
				t.Errorf("row %d is of a change that failed", id)
			}
		}
		if ids := c.rows(t); len(ids) != callers-9 {
			t.Errorf("%d rows, want %d", len(ids), callers-9)
		}
	}
}

// TestBatchContext cancels the context of the caller that leads, of one that waits, and of one
// whose function has run.
func TestBatchContext(t *testing.T) {
	t.Parallel()
	c := newBatchCrowd(t)
	errs := make([]error, 5)
	var cancels [5]context.CancelFunc
	ended := [5]chan struct{}{}
	for i := range errs {
		var ctx context.Context
		ctx, cancels[i] = context.WithCancel(t.Context())
		defer cancels[i]()
		ended[i] = make(chan struct{})
		c.join(func() {
			defer close(ended[i])
			errs[i] = c.db.Batch(ctx, func(tx *Tx) error {
				if i == 3 {
					cancels[i]()
				}
				return insert(int64(i))(tx)
			})
		})
	}
	cancels[2]() // waits for the leader
	<-ended[2]
	cancels[0]() // leads
	<-ended[0]
	c.leave()
	for i, err := range errs {
		if canceled := i == 0 || i == 2; canceled != errors.Is(err, context.Canceled) || !canceled && err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if ids := c.rows(t); fmt.Sprint(ids) != "[1 3 4]" {
		t.Errorf("rows %v", ids)
	}
}

// TestBatchTracePanics lets Options.Trace panic at each commit. The caller that commits gets the
// panic, the other calls get an answer, and all changes are there.
func TestBatchTracePanics(t *testing.T) {
	t.Parallel()
	var armed atomic.Bool
	db := open(t, filepath.Join(t.TempDir(), "db"), &Options{Create: true, JournalMode: JournalWAL, Trace: func(e Event) {
		if armed.Load() && e.Kind == EventCommit {
			panic(e.Kind)
		}
	}})
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t(a INTEGER PRIMARY KEY)"))
	const callers, each = 20, 50
	armed.Store(true)
	var panics atomic.Int64
	add := func(id int64) {
		defer func() {
			if recover() != nil {
				panics.Add(1)
			}
		}()
		if err := db.Batch(context.Background(), insert(id)); err != nil && err != errCommitUnknown {
			t.Error(err)
		}
	}
	var wg sync.WaitGroup
	for i := range int64(callers) {
		wg.Go(func() {
			for j := range int64(each) {
				add(i*each + j)
			}
		})
	}
	wg.Wait()
	armed.Store(false)
	if panics.Load() == 0 { // how many share a commit is chance
		t.Error("nothing panicked")
	}
	if ids := (&crowd{db: db}).rows(t); len(ids) != callers*each {
		t.Errorf("%d rows, want %d", len(ids), callers*each)
	}
}

// TestBeforeCommit calls functions before a commit, once for a batch, in order, and not before a
// rollback.
func TestBeforeCommit(t *testing.T) {
	t.Parallel()
	c := newBatchCrowd(t)
	calls := 0
	var last *Tx
	for i := range int64(20) {
		c.join(func() {
			err := c.db.Batch(context.Background(), func(tx *Tx) error {
				if tx != last {
					last = tx
					tx.BeforeCommit(func() error { calls++; return insert(1000)(tx) })
				}
				return insert(i)(tx)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	c.leave()
	if ids := c.rows(t); calls != 1 || len(ids) != 21 {
		t.Errorf("%d calls, %d rows", calls, len(ids))
	}
	wrong := errors.New("wrong")
	var order []int
	err := c.db.Update(t.Context(), func(tx *Tx) error {
		tx.BeforeCommit(func() error { order = append(order, 1); return insert(2000)(tx) })
		tx.BeforeCommit(func() error { order = append(order, 2); return wrong })
		tx.BeforeCommit(func() error { order = append(order, 3); return nil })
		return nil
	})
	if !errors.Is(err, wrong) || fmt.Sprint(order) != "[1 2]" {
		t.Errorf("%v, calls %v", err, order)
	}
	err = c.db.Update(t.Context(), func(tx *Tx) error {
		tx.BeforeCommit(func() error { t.Error("called before a rollback"); return nil })
		return wrong
	})
	if !errors.Is(err, wrong) {
		t.Error(err)
	}
	tx, err := c.db.BeginUpdate(t.Context())
	must.Do(t, err)
	tx.BeforeCommit(func() error { return insert(3000)(tx) })
	must.Do(t, tx.Commit())
	if ids := c.rows(t); len(ids) != 22 || ids[21] != 3000 {
		t.Errorf("rows %v", ids)
	}
}

// BenchmarkCrowd lets 100 goroutines insert one row each, again and again, by Update and by Batch.
//
//	go test ./sqlitefile -run '^$' -bench Crowd -count 5
func BenchmarkCrowd(b *testing.B) {
	for _, name := range []string{"update", "batch"} {
		b.Run(name, func(b *testing.B) {
			db := open(b, filepath.Join(b.TempDir(), "db"), &Options{Create: true, JournalMode: JournalWAL, Durability: DurabilityNormal})
			if err := db.Exec(b.Context(), "CREATE TABLE t(a INTEGER PRIMARY KEY)"); err != nil {
				b.Fatal(err)
			}
			change := db.Update
			if name == "batch" {
				change = db.Batch
			}
			var id atomic.Int64
			b.SetParallelism(100)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := change(context.Background(), insert(id.Add(1))); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
