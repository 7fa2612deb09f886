// Package machine judges the engine's writing. It does random operations on one database with the
// engine and on another with C SQLite, or with both in turn on the same one, and compares
// everything that can be seen of the two.
//
// A run is a list of operations that comes from one number, its seed. Each operation draws its
// details from a seed of its own, so that a run that fails can be cut down to the operations that
// it takes to fail.
package machine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
)

var ctx = context.Background()

// A machine is one run: the same operations on each of its sides.
type machine struct {
	dir      string
	random   *rand.Rand // of the operation at work
	setup    setup
	ours     *engine // the database in a file, by the engine
	theirs   *conn   // the same file, by C SQLite, if the two take turns
	second   *engine // the same file once more by the engine, if it is in turns
	turns    bool
	model    *conn  // a database in memory, by C SQLite
	sides    []side // those that the transaction in progress runs on; the last is the model
	ops      []op
	next     int
	schema   []*table // never changed in place, so that it can be as before
	level    int      // how many transactions and savepoints are open
	edge     bool     // the largest rowid may be in use
	counted  bool     // there was a table with AUTOINCREMENT
	smaller  bool     // ours was made as small as it can be, and the model was not
	lockPage uint32   // of a database that grows across it; else 0
	unused   span     // the pages that make it so large, while it is in no freelist
	crossed  bool     // it did grow
	every    int      // how many transactions there are from one comparison to the next; 0 if only operations ask for it
	trace    []string
	totals   totals
}

// errRollback ends a transaction, or a savepoint, without its changes.
var errRollback = errors.New("rolled back")

// run does the operations up to the end of the transaction or savepoint in progress.
func (m *machine) run() error {
	for level := m.level; m.next < len(m.ops); {
		o := m.ops[m.next]
		m.next++
		switch {
		case o.kind == opEnd && level > 0:
			return nil
		case o.kind == opRollback && level > 0:
			return errRollback
		}
		m.random = rand.New(rand.NewPCG(o.seed, 1))
		if m.turns && level == 0 {
			m.takeTurn()
		}
		if err := m.step(o.kind); err != nil {
			return err
		}
		m.totals.ops++
		if level == 0 {
			m.totals.transactions++
			if m.every > 0 && m.totals.transactions%int64(m.every) == 0 {
				if err := m.compare(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// transact runs the operations up to the matching end in a transaction, or in a savepoint if there
// is one.
func (m *machine) transact() error {
	before := m.schema
	m.note("begin")
	err := m.within(m.sides, m.run)
	m.note("end: %v", err)
	if errors.Is(err, errRollback) {
		m.schema = before
		return nil
	}
	return err
}

// within calls fn in a transaction, or in a savepoint, of each of some sides.
func (m *machine) within(sides []side, fn func() error) error {
	if len(sides) == 0 {
		m.level++
		defer func() { m.level-- }()
		return fn()
	}
	enter := sides[0].update
	if m.level > 0 {
		enter = sides[0].nested
	}
	return enter(func() error { return m.within(sides[1:], fn) })
}

// often calls fn many times, in one transaction if none is open.
func (m *machine) often(most int, fn func() error) error {
	loop := func() error {
		for range 5 + m.random.IntN(most) {
			if err := fn(); err != nil {
				return err
			}
		}
		return nil
	}
	if m.level > 0 {
		return loop()
	}
	return m.within(m.sides, loop)
}

// both lets each side do the same, and compares the results.
func (m *machine) both(what func() string, fn func(s side) (int64, error)) (n int64, ok bool, err error) {
	var first outcome
	for i, s := range m.sides {
		n, err := fn(s)
		o := outcome{n, classOf(err), err}
		if i == 0 {
			first = o
		} else if !first.like(o) {
			return 0, false, fmt.Errorf("%s: %v, and C: %v", what(), first, o)
		}
	}
	if m.trace != nil {
		m.note("%s: %v", what(), first)
	}
	return first.n, first.err == nil, nil
}

func (m *machine) note(format string, args ...any) {
	if m.trace != nil {
		m.trace = append(m.trace, fmt.Sprintf("%*s%d %s", 2*m.level, "", m.next-1, fmt.Sprintf(format, args...)))
	}
}

// play does one run in a directory of its own. It returns the first difference.
func (m *machine) play() (err error) {
	if m.dir, err = folder(); err != nil {
		return err
	}
	defer os.RemoveAll(m.dir)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	if err := m.open(); err != nil {
		return err
	}
	defer m.close()
	if err := m.run(); err != nil {
		return err
	}
	if m.lockPage > 0 {
		return m.finishSparse()
	}
	return m.compare()
}

// folder makes a directory, in memory if the system has room for it there.
func folder() (string, error) {
	if dir := memoryDir(); dir != "" {
		if made, err := os.MkdirTemp(dir, "folio-machine-"); err == nil {
			return made, nil
		}
	}
	return os.MkdirTemp("", "folio-machine-")
}

func needC(t *testing.T) {
	if !judge.Available {
		t.Skip("skipped: no C compiler, so no C SQLite to judge by")
	}
}
