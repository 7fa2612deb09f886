package sqlitefile

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/invariant"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/crashfs"
	"github.com/foliofs/folio/internal/osfile/faultfs"
	"github.com/foliofs/folio/internal/race"
)

var faultStride = flag.Int("fault.stride", 0, "let every so manieth operation fail in fault tests; 0 for what fits into CI")

// faultKinds are the ways to fail.
var faultKinds = []struct {
	name  string
	fault faultfs.Fault
}{
	{"EIO", faultfs.Fault{Err: syscall.EIO}},
	{"EIO for good", faultfs.Fault{Err: syscall.EIO, Sticky: true}},
	{"EIO after half", faultfs.Fault{Err: syscall.EIO, Partial: true, Ops: faultfs.Read | faultfs.Write}},
	{"end of file after half", faultfs.Fault{Err: io.EOF, Partial: true, Ops: faultfs.Read, Suffix: "/db"}}, // the ends of logs mean something
	{"ENOSPC", faultfs.Fault{Err: syscall.ENOSPC, Partial: true, Ops: faultfs.Open | faultfs.Write | faultfs.Truncate | faultfs.Preallocate}},
	{"ENOSPC for good", faultfs.Fault{Err: syscall.ENOSPC, Partial: true, Sticky: true, Ops: faultfs.Open | faultfs.Write | faultfs.Truncate | faultfs.Preallocate}},
	{"EDQUOT", faultfs.Fault{Err: syscall.EDQUOT, Ops: faultfs.Open | faultfs.Write | faultfs.Truncate | faultfs.Preallocate}},
	{"EINTR", faultfs.Fault{Err: syscall.EINTR}},
	{"ENOLCK", faultfs.Fault{Err: syscall.ENOLCK, Ops: faultfs.Lock | faultfs.Locked}},
	{"ENOLCK for good", faultfs.Fault{Err: syscall.ENOLCK, Sticky: true, Ops: faultfs.Lock | faultfs.Locked}},
	{"EACCES", faultfs.Fault{Err: syscall.EACCES}},
	{"a sync that loses", faultfs.Fault{Err: syscall.EIO, Lose: true, Ops: faultfs.Sync}},
	{"no map", faultfs.Fault{Err: syscall.ENOMEM, Ops: faultfs.Map | faultfs.MapWords}},
}

// faultPoints counts the runs with a fault, of all tests.
var faultPoints atomic.Int64

// TestFault lets each operation of a workload fail in each way, once and for good: nothing panics
// or hangs or leaks; what was acknowledged is there; what failed has happened as a whole or not at
// all; with the fault gone the database can be opened and used.
func TestFault(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Cleanup(func() { t.Logf("so far: %d points", faultPoints.Load()) })
	for i, mode := range crashModes {
		if testing.Short() && i%3 != 0 { // one goroutine runs: without the race detector all modes are tried
			continue
		}
		c := &crashCase{wal: mode.wal, journal: mode.journal, durability: DurabilityExtra, pageSize: crashPageSizes[i%3], spill: 16 << 10}
		t.Run(mode.name, func(t *testing.T) { c.fail(t) })
		c = &crashCase{wal: mode.wal, journal: mode.journal, durability: DurabilityExtra, pageSize: 1024, tight: true}
		t.Run(mode.name+" tight", func(t *testing.T) { c.fail(t) })
	}
}

func (c *crashCase) fail(t *testing.T) {
	t.Parallel()
	image := crashfs.New()
	first := newCrashState()
	if err := image.WriteFile(crashPath, first.build(t, c.pageSize, c.wal)); err != nil {
		t.Fatal(err)
	}
	base := image.History().End().None()
	stride, from := *faultStride, 1
	if stride == 0 {
		stride = inQuick(61, inShort(31, 2))
		if invariant.Enabled {
			stride = 17
		}
		from += rand.IntN(stride) // so that every operation gets its turn in some run
	}
	for _, kind := range faultKinds {
		t.Run(kind.name, func(t *testing.T) {
			for n := from; ; n += stride {
				fault := kind.fault
				fault.N = n
				r := &faultRun{crashCase: c, base: base, ctx: context.Background(), may: []*crashState{first}, rng: rand.New(rand.NewPCG(uint64(n), 3))}
				if err := r.run(fault); err != nil {
					t.Errorf("operation %d: %v\nfailed: %q\n%s", n, err, r.sys.Hits(), indent(r.trace()))
					if t.Failed() {
						return
					}
				}
				if len(r.sys.Hits()) == 0 {
					return
				}
				faultPoints.Add(1)
			}
		})
	}
}

// A faultRun is one run of the workload with one fault.
type faultRun struct {
	*crashCase
	base *crashfs.Image
	fs   *crashfs.FS
	sys  *faultfs.System
	db   *DB
	rng  *rand.Rand
	ctx  context.Context
	may  []*crashState // what the database may hold: what was acknowledged last, and what failed since

	mu       sync.Mutex // guards breaches
	breaches []error    // that the write-order checker saw
}

// breach is called by the write-order checker.
func (r *faultRun) breach(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.breaches = append(r.breaches, err)
}

// watched returns what the write-order checker saw, once nothing runs any more.
func (r *faultRun) watched() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.breaches...)
}

func (r *faultRun) trace() string {
	n := r.fs.Count()
	return crashfs.Trace(r.fs.Ops(max(0, n-25)), 0xffff)
}

func (r *faultRun) run(f faultfs.Fault) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, stack())
		}
	}()
	r.fs = r.disk(r.base)
	r.sys = faultfs.New(watchFaulty(r.fs, r.durability, r.breach))
	r.sys.Arm(f)
	if err := r.work(f); err != nil {
		return err
	}
	r.sys.Heal()
	return cmp.Or(r.aftermath(), r.watched())
}

func stack() []byte {
	b := make([]byte, 16<<10)
	return b[:runtime.Stack(b, false)]
}

// steps are a bit of everything.
func (r *faultRun) steps() []func() error {
	if r.tight {
		return r.tightSteps()
	}
	return []func() error{
		r.open, r.commit, r.commit, r.read, r.checkpoint(CheckpointPassive), r.commit, r.rollback, r.checkpoint(CheckpointTruncate), r.large,
		r.check, r.commit, r.close, r.open, r.commit, r.checkpoint(CheckpointRestart), r.commit, r.close,
	}
}

// work takes the steps. It returns an error if something fails before the fault has hit, or the
// wrong way.
func (r *faultRun) work(f faultfs.Fault) error {
	for _, step := range r.steps() {
		before := len(r.sys.Hits())
		err := step()
		if wrong, ok := errors.AsType[wrongError](err); ok {
			return wrong
		}
		if err != nil {
			if err := r.excuse(f, err, before); err != nil {
				return err
			}
		}
	}
	return nil
}

// excuse returns an error if that of a step is not an error that the fault may cause. A fault that
// has passed causes no more errors, except that nothing is written after a sync that failed, or a
// rollback, or by who may only read.
func (r *faultRun) excuse(f faultfs.Fault, err error, before int) error {
	hits := r.sys.Hits()
	switch text := err.Error(); {
	case strings.Contains(text, "\n") || strings.Count(text, crashPath) != 1:
		return fmt.Errorf("not one line with the path once: %q", text)
	case r.tight && (errors.Is(err, ErrFull) || errors.Is(err, ErrWALRemains)):
	case len(hits) == 0:
		return fmt.Errorf("without a fault: %w", err)
	case errors.Is(f.Err, syscall.EACCES) && errors.Is(err, ErrReadOnly):
	case len(hits) == before && !f.Sticky && (r.db == nil || r.db.pager.Probe().Failed() == nil):
		return fmt.Errorf("after the fault has passed: %w", err)
	}
	return nil
}

// A wrongError is a failure of the test, where others are what a fault may cause.
type wrongError struct{ error }

func (r *faultRun) open() (err error) {
	r.db, err = Open(crashPath, &Options{
		JournalMode: r.journal, Durability: r.durability, BusyTimeout: 5 * time.Second, spillBytes: r.spill, system: r.sys,
	})
	if err != nil {
		r.db = nil
		if n := r.fs.Handles() + r.fs.Locks() + r.fs.Mappings(); n > 0 {
			return wrongError{fmt.Errorf("open failed (%w) and left %d handles, %d locks, %d mappings", err, r.fs.Handles(), r.fs.Locks(), r.fs.Mappings())}
		}
	}
	return err
}

// close closes the database, whether or not that works. It is gone then.
func (r *faultRun) close() error {
	if r.db == nil {
		return nil
	}
	err := r.db.Close()
	r.db = nil
	if n := r.fs.Handles() + r.fs.Locks() + r.fs.Mappings(); n > 0 {
		return wrongError{fmt.Errorf("closed (%w) with %d handles, %d locks, %d mappings", err, r.fs.Handles(), r.fs.Locks(), r.fs.Mappings())}
	}
	return err
}

func (r *faultRun) commit() error { return r.change(3) }

func (r *faultRun) large() error { return r.change(60) }

// change commits a transaction with so many changes.
func (r *faultRun) change(changes int) error {
	return r.transact(func(s *crashState, tx *Tx) error { return s.advance(tx, r.rng, changes) })
}

// transact commits a transaction. If that fails, the state after it is allowed, as
// well as those before.
func (r *faultRun) transact(do func(s *crashState, tx *Tx) error) error {
	if r.db == nil {
		return nil
	}
	var next *crashState
	err := r.db.Update(r.ctx, func(tx *Tx) error {
		state, err := r.known(&tx.Rx)
		if err != nil {
			return err
		}
		next = state.clone()
		next.version = r.may[len(r.may)-1].version // so that no two states have one version
		return do(next, tx)
	})
	switch {
	case err == nil:
		r.may = []*crashState{next}
	case next != nil && r.ctx.Err() == nil:
		r.may = append(r.may, next)
	}
	if osfile.Full(err) && !errors.Is(err, ErrFull) {
		err = wrongError{fmt.Errorf("not ErrFull: %w", err)}
	}
	return err
}

// known returns which of the states that may be there is there.
func (r *faultRun) known(rx *Rx) (*crashState, error) {
	s, err := readCrashState(rx)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(r.may, func(m *crashState) bool { return m.digest() == s.digest() }) {
		return nil, wrongError{fmt.Errorf("transaction %d is there, or something else; want %d to %d", s.version, r.may[0].version, r.may[len(r.may)-1].version)}
	}
	return s, nil
}

func (r *faultRun) read() error {
	if r.db == nil {
		return nil
	}
	return r.db.View(r.ctx, func(rx *Rx) error {
		_, err := r.known(rx)
		return err
	})
}

func (r *faultRun) rollback() error {
	if r.db == nil {
		return nil
	}
	err := r.db.Update(r.ctx, func(tx *Tx) error {
		state, err := r.known(&tx.Rx)
		if err != nil {
			return err
		}
		return dberr.Join(state.clone().advance(tx, r.rng, 50), errRollback)
	})
	if errors.Is(err, errRollback) {
		return nil
	}
	if err == nil {
		return wrongError{errors.New("a transaction that failed was committed")}
	}
	return err
}

func (r *faultRun) checkpoint(mode CheckpointMode) func() error {
	return func() error {
		if r.db == nil {
			return nil
		}
		return r.db.Checkpoint(r.ctx, mode)
	}
}

func (r *faultRun) check() error {
	if r.db == nil {
		return nil
	}
	hits := len(r.sys.Hits())
	report, err := r.db.Check(r.ctx, nil)
	if err == nil && !report.OK() && len(r.sys.Hits()) == hits {
		return wrongError{fmt.Errorf("check: %v", report.Problems)}
	}
	return err
}

// aftermath looks at what is left, with the fault gone: by this system, and after a loss of power.
func (r *faultRun) aftermath() error {
	r.fs.LeaveFreeSpace(tightDisk)
	if err := r.close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	if r.rng.IntN(4) > 0 {
		return r.use(r.fs)
	}
	history := r.fs.History()
	for img := range history.End().Images(crashfs.Plan{Seed: 1, Subsets: 2}) {
		if err := r.use(r.disk(img)); err != nil {
			return fmt.Errorf("after a loss of power with %s: %w", img.How, err)
		}
	}
	return r.use(r.fs)
}

// use opens what is left, checks it, and commits one more transaction.
func (r *faultRun) use(fs *crashfs.FS) error {
	again := &faultRun{crashCase: r.crashCase, fs: fs, ctx: context.Background(), may: r.may, rng: r.rng}
	again.sys = faultfs.New(watchFaulty(fs, r.durability, again.breach))
	for _, step := range []func() error{again.open, again.check, again.read, again.commit, again.read, again.close} {
		if err := step(); err != nil {
			return dberr.Join(err, again.close())
		}
	}
	return again.watched()
}
