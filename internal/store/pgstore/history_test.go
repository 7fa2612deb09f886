//go:build unix

package pgstore_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

var (
	histories   = flag.Int("histories", 10, "histories of many processes that are checked for linearizability")
	historyOps  = flag.Int("history.ops", 500, "operations of a history")
	historySeed = flag.Uint64("history.seed", 0, "of them; 0 means a new one")
	// Most take a second. One in a thousand has very many orders.
	historyCheck = flag.Duration("history.check", 2*time.Minute, "how long the check of a history may take")
)

// Histories. Eight clients make random operations on a few names of one volume. Package porcupine
// looks for an order of the operations in which a simple model of a tree gives the same answers,
// and in which an operation that has returned comes before those that are called later. So it finds
// stale reads, lost updates, changes by halves and errors that no order explains.
//
// Processes are killed, and the server crashes. An operation that was under way in a process that
// died, or whose error matches pgstore.ErrUnknown, may have happened at any time until the end. One
// with another error of the connection must not have happened.

// A history is a volume on which several processes work.
type history struct {
	t       testing.TB
	address string
	rand    *rand.Rand
	kills   int          // of processes
	crash   func() error // crashes the server; or nil

	mu      sync.Mutex // guards the fields below
	events  []historyEvent
	crashAt int // events
}

// historyClients is how many operations are under way at once. They are in as many processes, or in
// half as many.
const historyClients = 8

// historyStale is how old the answers of some clients may be. A read of theirs counts as one that
// was called so much earlier.
const historyStale = 5 * time.Millisecond

// A restarter lets several histories crash one server.
type restarter struct {
	*pgserver.Server
	mu      sync.Mutex // held while the server is down
	crashes atomic.Int64
}

func (s *restarter) crash() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crashes.Add(1)
	return errors.Join(s.Stop("immediate"), s.Start())
}

// run makes a history of about so many operations, and returns it.
func (h *history) run(ops int) []porcupine.Operation {
	h.crashAt = -1
	if h.crash != nil {
		h.crashAt = ops/2 + h.rand.IntN(ops)
	}
	h.work(ops)
	v, err := openHistory(h.address, 0) // so that nothing is lost that was not read again
	if err != nil {
		h.t.Error(err)
		return nil
	}
	defer v.Close()
	for i, name := range historyPaths {
		in := historyInput{Op: "read", A: name}
		call := historyEvent{Number: i, Time: now(), In: &in}
		out := perform(v, in)
		h.record(call)
		h.record(historyEvent{Number: i, Time: now(), Out: &out})
	}
	return operations(h.events)
}

// work lets processes make operations.
func (h *history) work(ops int) {
	var ready, ended sync.WaitGroup
	begin := make(chan struct{})
	kills, threads := h.kills, 1+h.rand.IntN(2)
	for i := range historyClients / threads {
		c := historyClient{Address: h.address, Number: i + 1, Threads: threads, Ops: ops / historyClients, Seed: h.rand.Uint64()}
		if h.rand.IntN(4) == 0 {
			c.Stale = historyStale
		}
		killAt := -1
		if kills > 0 {
			kills--
			killAt = 1 + h.rand.IntN(c.Ops*c.Threads)
		}
		ready.Add(1)
		ended.Go(func() {
			h.process(c, killAt, ready.Done, begin)
			if killAt < 0 {
				return
			}
			c.Number += historyClients // another one takes its place
			c.Seed++
			c.Ops = max(1, c.Ops-killAt/2/c.Threads)
			h.process(c, -1, func() {}, begin)
		})
	}
	ready.Wait()
	close(begin)
	ended.Wait()
}

// process runs a client, and kills it after so many events unless that is negative.
func (h *history) process(c historyClient, killAt int, ready func(), begin <-chan struct{}) {
	job, _ := json.Marshal(c)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), clientVariable+"="+string(job))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err = errors.Join(err, errOut, cmd.Start()); err != nil {
		ready()
		h.t.Error(err)
		return
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	lines.Scan()
	ready()
	<-begin
	_, _ = io.WriteString(in, "begin\n")
	for n := 0; lines.Scan(); n++ {
		var e historyEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			h.t.Errorf("%q: %v", lines.Text(), err)
			break
		}
		h.record(e)
		if n == killAt {
			_ = cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); err != nil && killAt < 0 {
		h.t.Error(err)
	}
}

// record keeps an event, and crashes the server when it is time to.
func (h *history) record(e historyEvent) {
	h.mu.Lock()
	h.events = append(h.events, e)
	crash := len(h.events) == h.crashAt
	h.mu.Unlock()
	if crash {
		if err := h.crash(); err != nil {
			h.t.Error(err)
		}
	}
}

// operations puts calls and returns together.
func operations(events []historyEvent) (list []porcupine.Operation) {
	type key struct{ client, number int }
	calls, end := make(map[key]historyEvent), int64(0)
	for _, e := range events {
		end = max(end, e.Time+1)
		if e.In != nil {
			if e.In.reads() {
				e.Time -= int64(e.Stale)
			}
			calls[key{e.Client, e.Number}] = e
		}
	}
	add := func(call historyEvent, out historyOutput, at int64) {
		o := &operation{*call.In, out, make(map[string][]any)}
		list = append(list, porcupine.Operation{ClientId: call.Client, Input: o, Call: call.Time, Return: at})
	}
	for _, e := range events {
		if e.Out == nil || e.Out.Err == unknown {
			continue
		}
		k := key{e.Client, e.Number}
		call := calls[k]
		delete(calls, k)
		if e.Out.Err != failed {
			add(call, *e.Out, e.Time)
		}
	}
	for _, call := range calls {
		if !call.In.reads() {
			add(call, historyOutput{Err: unknown}, end)
		}
	}
	return list
}

// TestHistories checks histories, several at once on one server.
func TestHistories(t *testing.T) {
	t.Parallel()
	n := *histories
	if testing.Short() {
		n = min(n, 4)
	}
	server := &restarter{Server: pgserver.ForTest(t)}
	r := rand.New(rand.NewPCG(historySeedOf(t), 0))
	seeds := make(chan uint64)
	var made, pending, undecided atomic.Int64
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for seed := range seeds {
				h := newHistory(t, server, seed)
				ops := h.run(*historyOps)
				made.Add(int64(len(ops)))
				pending.Add(pendingOf(ops))
				if !checkHistory(t, ops, seed) {
					undecided.Add(1)
				}
			}
		})
	}
	start := time.Now()
	for range n {
		seeds <- r.Uint64()
	}
	close(seeds)
	wg.Wait()
	if undecided.Load() > int64(n/10) {
		t.Errorf("%d of %d histories cannot be checked in time", undecided.Load(), n)
	}
	t.Logf("%d histories, %d undecided, of %d operations in all in %v; %d of them with an unknown outcome; %d crashes of the server", n, undecided.Load(), made.Load(), time.Since(start), pending.Load(), server.crashes.Load())
}

// checkHistory looks for an order of operations. It returns false if it does not find out in time
// whether there is one: of some histories there are too many orders.
func checkHistory(t testing.TB, ops []porcupine.Operation, seed uint64) (decided bool) {
	result, info := porcupine.CheckOperationsVerbose(treeModel, ops, *historyCheck)
	switch result {
	case porcupine.Unknown:
		t.Logf("the history of seed %d cannot be checked in time", seed)
	case porcupine.Illegal:
		name := fmt.Sprintf("%s/folio-history-%d.html", os.TempDir(), seed)
		t.Errorf("the history of seed %d is not linearizable: see %s (%v)", seed, name, porcupine.VisualizePath(treeModel, info, name))
	}
	return result != porcupine.Unknown
}

// pendingOf counts the operations with an unknown outcome.
func pendingOf(ops []porcupine.Operation) (n int64) {
	for _, op := range ops {
		if op.Input.(*operation).out.Err == unknown {
			n++
		}
	}
	return n
}

// newHistory returns a history on a new volume, with kills of clients, and a crash in every fourth.
func newHistory(t testing.TB, server *restarter, seed uint64) *history {
	r := rand.New(rand.NewPCG(seed, 1))
	h := &history{t: t, address: server.Address(fmt.Sprintf("history_%d", seed)), rand: r, kills: r.IntN(4)}
	if r.IntN(4) == 0 {
		h.crash = server.crash
	}
	return h
}

func historySeedOf(t testing.TB) uint64 {
	seed := *historySeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-history.seed %d", seed)
	return seed
}

// TestBrokenHistories breaks a rule of the store, and wants the check of histories to find it.
func TestBrokenHistories(t *testing.T) {
	t.Parallel()
	server := &restarter{Server: pgserver.ForTest(t)}
	for name, broken := range map[string][2]string{
		"no look at what was seen": {"RAISE EXCEPTION 'the volume has changed meanwhile' USING ERRCODE = '40001'", "NULL"},
		"no locks":                 {"FROM unnest(locks)", "FROM unnest(locks[:0])"},
		"only shared locks":        {"pg_advisory_xact_lock(key & -2)", "pg_advisory_xact_lock_shared(key & -2)"},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(historySeedOf(t), 0))
			for i := range 60 {
				h := newHistory(t, server, r.Uint64())
				h.kills, h.crash = 0, nil
				volume(t, h.address) // makes the tables
				breakApply(t, h.address, broken[0], broken[1])
				if porcupine.CheckOperationsTimeout(treeModel, h.run(*historyOps), time.Minute) == porcupine.Illegal {
					t.Logf("found in history %d", i+1)
					return
				}
			}
			t.Error("60 histories of a broken store look right")
		})
	}
}

// breakApply replaces a text in the function that changes a volume.
func breakApply(t testing.TB, address, old, with string) {
	t.Helper()
	c, ctx := connect(t, address), context.Background()
	var text string
	must.Do(t, c.QueryRow(ctx, "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname = 'apply' AND pronamespace = current_schema()::regnamespace").Scan(&text))
	changed := strings.ReplaceAll(text, old, with)
	if changed == text {
		t.Fatalf("function apply has no %q", old)
	}
	_, err := c.Exec(ctx, changed)
	must.Do(t, err)
}

// TestModel compares the model with a volume, one operation after the other, so that a history is
// checked by the right rules.
func TestModel(t *testing.T) {
	t.Parallel()
	v := volume(t, pgserver.Volume(t))
	r := rand.New(rand.NewPCG(historySeedOf(t), 0))
	state := emptyTree
	for i := range 3000 {
		in := randomInput(r, fmt.Sprintf("%d;", i))
		got := perform(v, in)
		next := step(state, in, got)
		if len(next) != 1 {
			t.Fatalf("%+v gives %+v, and the model %+v; in\n%s", in, got, parseTree(state).do(in), state)
		}
		state = next[0].(string)
	}
}
