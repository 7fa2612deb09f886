package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/internal/oracle/mixed/bank"
)

// settings are the flags.
type settings struct {
	duration, kills, switches time.Duration
	commits                   int64 // 0: as long as duration
	seed                      uint64
	dir, source, only         string
	progress                  io.Writer
}

// A ring is a run: the members, and their reports.
type ring struct {
	settings
	rnd      *rand.Rand
	path     string // of the database
	members  []*seat
	acked    []atomic.Int64 // by writer: the last transaction that was acknowledged
	counts   counts
	middle   chan *seat // members in the middle of a large transaction
	log      *record
	pageSize int
	vacuum   int
	skipped  []string
}

// stall is how long nothing may be committed.
const stall = 60 * time.Second

// run builds the members, lets them work until the time is over or ctx is, and returns their
// reports. The error says which condition failed.
func run(ctx context.Context, s settings) (*ring, error) {
	r := &ring{settings: s, middle: make(chan *seat), rnd: rand.New(rand.NewPCG(s.seed, 0))}
	dir, err := os.MkdirTemp(s.dir, "mixed-")
	if err != nil {
		return nil, err
	}
	if err := r.prepare(dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	err = r.work(ctx)
	if err = errors.Join(err, r.log.close()); err != nil {
		return r, fmt.Errorf("seed %d: %w; the files are in %s", s.seed, err, dir)
	}
	return r, os.RemoveAll(dir)
}

// prepare builds the programs, and makes the database.
func (r *ring) prepare(dir string) (err error) {
	if r.members, r.skipped, err = build(r.source, dir, r.only); err != nil {
		return err
	}
	writers := 0
	for _, m := range r.members {
		m.first = writers
		writers += m.kind.writers
	}
	r.acked = make([]atomic.Int64, writers)
	r.counts.init(r.members)
	r.path = filepath.Join(dir, "bank.db")
	r.pageSize = 512 << r.rnd.IntN(8)
	r.vacuum = r.rnd.IntN(3)
	if r.log, err = newRecord(filepath.Join(dir, "log")); err != nil {
		return err
	}
	c, err := judge.Open(r.path)
	if err != nil {
		return err
	}
	for _, statement := range bank.Schema(writers, r.pageSize, r.vacuum) {
		if err := c.Exec(statement); err != nil {
			return errors.Join(err, c.Close())
		}
	}
	return c.Close()
}

// work lets the members work until the time is over or something is wrong, and then checks the
// database.
func (r *ring) work(end context.Context) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	for _, m := range r.members {
		m.ring, m.fail = r, cancel
		if err := m.start(r.rnd.Uint64(), ""); err != nil {
			return errors.Join(err, r.killAll())
		}
	}
	checked := make(chan struct{})
	go func() {
		defer close(checked)
		r.check(ctx, cancel)
	}()
	err := r.disturb(ctx, end)
	cancel(err)
	<-checked
	if err = context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return errors.Join(err, r.killAll())
	}
	for _, m := range r.members {
		m.hush()
	}
	for _, m := range r.members {
		if err := m.quit(); err != nil {
			return errors.Join(err, r.killAll())
		}
	}
	return r.finish()
}

// disturb kills members and lets the journal mode change, until the run is over.
func (r *ring) disturb(ctx, end context.Context) error {
	kills, switches, seconds := ticks(r.kills), ticks(r.switches), time.NewTicker(time.Second)
	defer seconds.Stop()
	start := time.Now()
	last, moved := int64(0), start
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-end.Done():
			return nil
		case <-kills:
			if err := r.strike(r.victims()); err != nil {
				return err
			}
		case m := <-r.middle:
			if r.kills > 0 && r.rnd.IntN(3) == 0 {
				r.counts.amid++
				if err := r.strike([]*seat{m}, ""); err != nil {
					return err
				}
			}
		case <-switches:
			r.switchMode()
		case now := <-seconds.C:
			n := r.counts.commits()
			if n != last {
				last, moved = n, now
			}
			if now.Sub(moved) > stall {
				return errors.Join(fmt.Errorf("nothing was committed for %v", stall), r.dump())
			}
			if int(now.Sub(start).Seconds())%30 == 29 {
				fmt.Fprintf(r.progress, "%v: %s\n", now.Sub(start).Round(time.Second), r.counts.line())
			}
			r.counts.took = now.Sub(start)
			if r.commits > 0 && n >= r.commits || r.commits == 0 && now.Sub(start) >= r.duration {
				return nil
			}
		}
	}
}

// ticks is a ticker that is never stopped; nil if there is to be none.
func ticks(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return time.Tick(d)
}

// victims returns the members to kill: one member, or now and then all of them. Then the first is
// to change the journal mode, if it is faster than the rest: while many hold the database open, a
// change hardly succeeds.
func (r *ring) victims() (victims []*seat, mode string) {
	chosen := r.rnd.IntN(len(r.members))
	if r.rnd.IntN(10) > 0 {
		return r.members[chosen : chosen+1], ""
	}
	r.counts.storms++
	return append(r.members[chosen:len(r.members):len(r.members)], r.members[:chosen]...), r.mode()
}

// strike kills members and starts them again.
func (r *ring) strike(victims []*seat, mode string) error {
	for _, m := range victims {
		m.kill()
	}
	for _, m := range victims {
		if err := m.await(); err != nil {
			return err
		}
		r.counts.kills.add(m.name, 1)
	}
	for _, m := range victims {
		if err := m.start(r.rnd.Uint64(), mode); err != nil {
			return err
		}
		mode = ""
	}
	return nil
}

// mode chooses a journal mode.
func (r *ring) mode() string {
	modes := [...]string{"WAL", "DELETE", "TRUNCATE", "PERSIST"} // out of WAL mode is the harder way
	return modes[r.rnd.IntN(len(modes))]
}

// switchMode asks a member to change the journal mode, and the rest to close for a moment.
func (r *ring) switchMode() {
	chosen := r.rnd.IntN(len(r.members))
	for i, m := range r.members {
		if i == chosen {
			m.tell("switch " + r.mode())
		} else {
			m.tell("reopen")
		}
	}
}

// dump asks our members for their goroutines' stacks. The answers are in the log.
func (r *ring) dump() error {
	for _, m := range r.members {
		if strings.HasPrefix(m.name, "folio") {
			m.quitDump()
		}
	}
	return nil
}

func (r *ring) killAll() error {
	for _, m := range r.members {
		m.kill()
	}
	for _, m := range r.members {
		_ = m.await()
	}
	return nil
}
