//go:build linux

package pgstore_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store/pgstore"
)

var (
	failovers   = flag.Int("failovers", 0, "failovers of a cluster of servers under load; 0 leaves the test out")
	clusterPort = flag.Int("cluster.port", 21400, "the first port of the cluster")
)

// A cluster is that of examples/cluster.
type cluster struct {
	url  string
	dir  string
	port int // the first one
}

// startCluster starts the cluster, which ends with the test.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{port: *clusterPort}
	cmd := exec.Command("../../../examples/cluster/run", strconv.Itoa(c.port))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); c.dir == ""; {
		if !lines.Scan() {
			t.Fatal("the cluster did not start")
		}
		switch what, value, _ := strings.Cut(lines.Text(), ": "); what {
		case "volumes":
			c.url = value
		case "servers":
			c.dir = value
		}
	}
	return c
}

// primary returns the node that is the primary, or 0.
func (c *cluster) primary() int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url)
	if err != nil {
		return 0
	}
	defer conn.Close(ctx)
	var port int
	if conn.QueryRow(ctx, "SELECT inet_server_port()").Scan(&port) != nil {
		return 0
	}
	return port - c.port - 10
}

// ready reports whether a primary and two replicas run, of which one is synchronous.
func (c *cluster) ready(node int) bool {
	answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/cluster", c.port+20+node))
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	var all struct {
		Members []struct{ Role, State string }
	}
	if json.NewDecoder(answer.Body).Decode(&all) != nil {
		return false
	}
	running := make(map[string]int)
	for _, m := range all.Members {
		if m.State == "running" || m.State == "streaming" {
			running[m.Role]++
		}
	}
	return running["leader"] == 1 && running["sync_standby"] == 1 && running["replica"] == 1
}

// wait waits until the cluster is ready, and returns the primary.
func (c *cluster) wait(t *testing.T) int {
	t.Helper()
	node := 0
	if !within(2*time.Minute, func() bool { node = c.primary(); return node != 0 && c.ready(node) }) {
		t.Fatal("the cluster does not become ready")
	}
	return node
}

// pid reads a process's number from a file of a node.
func (c *cluster) pid(node int, name string) int {
	text, _ := os.ReadFile(filepath.Join(c.dir, "node"+strconv.Itoa(node), name))
	line, _, _ := strings.Cut(string(text), "\n")
	n, _ := strconv.Atoi(line)
	return n
}

// killPrimary kills the server of a node, or the node: the server, all of its processes, and what
// would start it again. The node comes back when back is called.
func (c *cluster) killPrimary(node int, whole bool) (back func(), err error) {
	server, patroni := c.pid(node, "data/postmaster.pid"), c.pid(node, "patroni.pid")
	if server == 0 || patroni == 0 {
		return nil, fmt.Errorf("node %d does not run", node)
	}
	if !whole {
		return func() {}, syscall.Kill(server, syscall.SIGKILL)
	}
	supervisor := parentOf(patroni)
	if err := syscall.Kill(supervisor, syscall.SIGSTOP); err != nil {
		return nil, err
	}
	_ = syscall.Kill(patroni, syscall.SIGKILL)
	_ = syscall.Kill(server, syscall.SIGSTOP) // so that it begins no further process
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range processes {
		if pid, _ := strconv.Atoi(filepath.Base(p)); parentOf(pid) == server {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return func() { _ = syscall.Kill(supervisor, syscall.SIGCONT) }, syscall.Kill(server, syscall.SIGKILL)
}

// parentOf returns the parent of a process, 0 if there is none.
func parentOf(pid int) (parent int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	var state string
	_, _ = fmt.Sscan(rest, &state, &parent)
	return parent
}

// TestFailover kills the primary again and again under load: the server, and, in turns, its whole
// node. The load is a history of eight clients for each failover, and writers whose Store stays
// open throughout. No acknowledged change may be lost, no change happen whose call says that it has
// not, and no call take longer than maxStall.
func TestFailover(t *testing.T) {
	if *failovers == 0 {
		t.Skip("it takes minutes: -failovers 2")
	}
	c := startCluster(t)
	r := rand.New(rand.NewPCG(historySeedOf(t), 0))
	c.wait(t)
	steady := newSteady(t, c.url+"&volume=steady")
	var pending int64
	operations, slowest := 0, time.Duration(0)
	for i := range *failovers {
		seed := r.Uint64()
		h := &history{t: t, address: fmt.Sprintf("%s&volume=history_%d", c.url, seed), rand: rand.New(rand.NewPCG(seed, 1))}
		back := func() {}
		h.crash = func() (err error) {
			back, err = c.killPrimary(c.primary(), i%2 == 1)
			return err
		}
		ops := h.run(*historyOps)
		if !checkHistory(t, ops, seed) {
			t.Errorf("failover %d: undecided", i+1)
		}
		stall := h.longest()
		if stall > maxStall {
			t.Errorf("failover %d: a call took %v", i+1, stall)
		}
		back()
		operations, pending, slowest = operations+len(ops), pending+pendingOf(ops), max(slowest, stall)
		start := time.Now()
		node := c.wait(t)
		t.Logf("failover %d, of the whole node: %v; %d of %d operations have an unknown outcome; the longest took %v; node %d is the primary, and all run after %v",
			i+1, i%2 == 1, pendingOf(ops), len(ops), stall, node, time.Since(start))
		if t.Failed() {
			break
		}
	}
	steady.stop(t)
	t.Logf("%d failovers, %d operations in histories, %d of them with an unknown outcome, the longest call took %v; steady writers: %d changes, %d unknown, %d failed, the longest took %v",
		*failovers, operations, pending, slowest, steady.done, steady.unknown, steady.failed, steady.slowest)
}

// longest returns how long the longest operation took.
func (h *history) longest() (longest time.Duration) {
	type key struct{ client, number int }
	calls := make(map[key]int64)
	for _, e := range h.events {
		if k := (key{e.Client, e.Number}); e.In != nil {
			calls[k] = e.Time
		} else {
			longest = max(longest, time.Duration(e.Time-calls[k]))
		}
	}
	return longest
}

// A steady is a volume with writers that check what they have written before they write it again.
type steady struct {
	volume *folio.Volume
	end    chan struct{}
	wg     sync.WaitGroup

	mu                    sync.Mutex // guards the fields below
	done, unknown, failed int
	slowest               time.Duration
}

const (
	steadyWriters = 4
	steadyFiles   = 50 // of each
)

func newSteady(t *testing.T, address string) *steady {
	s := &steady{end: make(chan struct{})}
	s.volume = volumeAs(t, address, &pgstore.Options{Create: true, BusyTimeout: 25 * time.Second}, nil)
	for i := range steadyWriters {
		s.wg.Go(func() { s.write(t, i) })
	}
	return s
}

// write writes files in turns. It knows what each of them may hold: the last change that was
// acknowledged, and those of unknown outcome since. "" is that there is no file.
func (s *steady) write(t *testing.T, writer int) {
	may := make(map[string][]string)
	for i := range steadyFiles {
		may[fmt.Sprintf("%d-%d", writer, i)] = []string{""}
	}
	for n := 0; ; n++ {
		name := fmt.Sprintf("%d-%d", writer, n%steadyFiles)
		select {
		case <-s.end:
			for name, texts := range may {
				s.look(t, name, texts)
			}
			return
		case <-time.After(2 * time.Millisecond):
		}
		s.look(t, name, may[name])
		text, start := strconv.Itoa(n), time.Now()
		err := s.volume.WriteFile(name, []byte(text), 0o644)
		switch kind := errorKind(err); {
		case err == nil:
			may[name] = []string{text}
		case kind == unknown:
			may[name] = append(may[name], text)
		}
		s.count(err, time.Since(start))
	}
}

func (s *steady) count(err error, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.done++
	case errorKind(err) == unknown:
		s.unknown++
	default:
		s.failed++
	}
	s.slowest = max(s.slowest, took)
}

// look reads a file until that works, and checks it.
func (s *steady) look(t *testing.T, name string, may []string) {
	for range 10 {
		start := time.Now()
		p, err := s.volume.ReadFile(name)
		if took := time.Since(start); took > maxStall {
			t.Errorf("a read took %v", took)
		}
		switch kind := errorKind(err); {
		case kind == failed:
			continue
		case kind == "not there" && slices.Contains(may, "") || kind == "" && slices.Contains(may, string(p)):
		default:
			t.Errorf("%s has %q, %v, and may have %q", name, p, err, may)
		}
		return
	}
	t.Errorf("%s cannot be read", name)
}

func (s *steady) stop(t *testing.T) {
	close(s.end)
	s.wg.Wait()
	if s.slowest > maxStall {
		t.Errorf("a change took %v", s.slowest)
	}
	if report, err := s.volume.Check(context.Background(), nil); err != nil || !report.OK() {
		t.Errorf("%+v, %v", report, err)
	}
}
