package recovery

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
)

var (
	killAll  = flag.Bool("kill.all", false, "kill at each system call, not at some")
	killSeed = flag.Uint64("kill.seed", 1, "seed of what the killed processes do, and of where they are killed")
)

// A process is killed at system calls that change files, and at calls that come between them:
// locks, and its output.
var (
	changingCalls = []string{"pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "unlinkat", "rename", "renameat", "renameat2"}
	otherCalls    = []string{"fcntl", "openat", "write"}
)

// killSettings are for each engine. All writes of a process survive its death, synced or not: the
// levels of sync differ in the writes that they make.
func killSettings(seed uint64) (all []*setting) {
	for _, e := range []string{"c", "ours"} {
		for i, mode := range modes {
			for sync := range 4 {
				seed++
				all = append(all, &setting{
					Engine: e, Mode: mode, Sync: sync, PageSize: [...]int{512, 1024, 4096}[(i+2*sync)%3], AutoVacuum: (i + sync) % 3,
					Create: sync == 3, Seed: seed, Steps: 14,
				})
			}
		}
	}
	return all
}

// killCounts has the counts of all processes of a run.
var killCounts struct {
	points    [2]atomic.Int64 // processes killed, of C SQLite and of ours
	journals  atomic.Int64    // these, with a journal or a log that is not empty next to the database
	survivors atomic.Int64    // those that did not come to their call
	recovered atomic.Int64    // recoveries killed, before the next one succeeded
}

// TestKill kills a writer of either engine at its system calls, one process for each, and lets both
// engines recover its files. Some recoveries are killed, too.
func TestKill(t *testing.T) {
	needStrace(t)
	t.Cleanup(func() {
		c := &killCounts
		t.Logf("killed: %d of C SQLite, %d of ours (%d with a journal or a log), %d recoveries; %d ended before; seed %d",
			c.points[0].Load(), c.points[1].Load(), c.journals.Load(), c.recovered.Load(), c.survivors.Load(), *killSeed)
	})
	for _, s := range killSettings(100 * *killSeed) {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			newKiller(t, s).killAll()
		})
	}
}

func needStrace(t *testing.T) {
	if !judge.Available {
		t.Skip("skipped: no C compiler, so no C SQLite to kill or to recover")
	}
	if out, err := exec.Command("strace", "-qqq", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("skipped: no strace to kill processes with: %v %s", err, out)
	}
}

// A killer kills processes of one setting.
type killer struct {
	*testing.T
	setting
	dir  string
	base files     // the files at the start of each process
	want []content // by version, the first that of no database
	rng  *rand.Rand
}

func newKiller(t *testing.T, s *setting) *killer {
	k := &killer{T: t, setting: *s, dir: scratchDir(t), rng: rand.New(rand.NewPCG(s.Seed, 1))}
	k.Path = filepath.Join(k.dir, "killed", baseName)
	k.model()
	k.base = make(files)
	if !s.Create {
		k.begin()
	}
	return k
}

// model plays the setting in memory, to know the content of each version.
func (k *killer) model() {
	k.Helper()
	s := setting{Path: ":memory:", Engine: "c", Mode: "MEMORY", PageSize: 4096, Create: true, Seed: k.Seed, Steps: k.Steps}
	w, err := openC(&s)
	if err != nil {
		k.Fatal(err)
	}
	defer w.close()
	note := func() {
		c, err := contentC(w.Conn)
		if err != nil {
			k.Fatal(err)
		}
		k.want = append(k.want, c)
	}
	note()
	for _, step := range s.steps() {
		if step.kind >= checkpoint { // these change nothing, and not all of them work in memory
			continue
		}
		if err := w.run(&step); err != nil {
			k.Fatal(err)
		}
		if int(step.version) > len(k.want)-2 {
			note()
		}
	}
}

// begin makes the database that has version 0.
func (k *killer) begin() {
	k.Helper()
	s := k.setting
	s.Engine = "c"
	if err := k.base.write(filepath.Dir(s.Path)); err != nil {
		k.Fatal(err)
	}
	w, err := openC(&s)
	if err == nil {
		err = errors.Join(w.run(&step{kind: create}), w.close())
	}
	if err == nil {
		k.base, err = readFiles(filepath.Dir(s.Path))
	}
	if err != nil {
		k.Fatal(err)
	}
}

// A killPoint is the n-th call of one kind in a thread.
type killPoint struct {
	call string
	n    int
}

func (p killPoint) String() string { return fmt.Sprintf("%s %d", p.call, p.n) }

// wrapper returns the command that kills a process there.
func (p killPoint) wrapper() []string {
	return []string{
		"strace", "-f", "-qqq", "-o", os.DevNull, "-e", "trace=" + p.call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", p.call, p.n),
	}
}

var callLine = regexp.MustCompile(`^(\d+) +(\w+)\(`)

// points lets a process run to its end, and returns all its calls.
func (k *killer) points() (all []killPoint) {
	k.Helper()
	trace := filepath.Join(k.dir, "trace")
	if err := k.base.write(filepath.Dir(k.Path)); err != nil {
		k.Fatal(err)
	}
	if err := command("write", &k.setting, "strace", "-f", "-qqq", "-o", trace, "-e", "trace="+strings.Join(slices.Concat(changingCalls, otherCalls), ",")).Run(); err != nil {
		k.Fatal(err)
	}
	all, err := tracedPoints(trace)
	if err != nil {
		k.Fatal(err)
	}
	return all
}

// tracedPoints returns the calls in the file that strace wrote.
func tracedPoints(trace string) (all []killPoint, err error) {
	text, err := os.ReadFile(trace)
	if err != nil {
		return nil, err
	}
	counts, most := make(map[string]int), make(map[string]int) // by thread and call; by call
	for line := range strings.Lines(string(text)) {
		if m := callLine.FindStringSubmatch(line); m != nil {
			counts[m[1]+m[2]]++
			most[m[2]] = max(most[m[2]], counts[m[1]+m[2]])
		}
	}
	for call, n := range most {
		for i := range n {
			all = append(all, killPoint{call, i + 1})
		}
	}
	slices.SortFunc(all, func(a, b killPoint) int { return cmp.Or(cmp.Compare(a.call, b.call), cmp.Compare(a.n, b.n)) })
	return all, nil
}

// killAll kills a process at each point, or at some.
func (k *killer) killAll() {
	points := k.points()
	if !*killAll {
		points = k.some(points)
	}
	for _, p := range points {
		left, acked, err := k.kill(p)
		if err == nil {
			err = k.verify(left, acked)
		}
		if err != nil {
			k.Errorf("killed at %v, having acknowledged %d: %v\nfiles in %s", p, acked, err, left.keep(k.T))
			return
		}
	}
}

// killSome is at how many points processes of each setting are killed, unless at all: half of them
// change files.
const killSome = 14

func (k *killer) some(points []killPoint) []killPoint { return somePoints(k.rng, points) }

func somePoints(rng *rand.Rand, points []killPoint) []killPoint {
	rng.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	var parts [2][]killPoint
	for _, p := range points {
		part := 1
		if slices.Contains(changingCalls, p.call) {
			part = 0
		}
		if len(parts[part]) < killSome/2 {
			parts[part] = append(parts[part], p)
		}
	}
	return slices.Concat(parts[:]...)
}

// kill starts a process that is killed at p. It returns the files that the process left, and the
// version that it acknowledged last.
func (k *killer) kill(p killPoint) (left files, acked int64, err error) {
	if err := k.base.write(filepath.Dir(k.Path)); err != nil {
		return nil, 0, err
	}
	if !k.Create {
		acked = 0
	} else {
		acked = noVersion
	}
	out, killed, err := run(command("write", &k.setting, p.wrapper()...))
	if err != nil {
		return nil, acked, err
	}
	if acked, err = lastVersion(out, acked); err != nil {
		return nil, acked, err
	}
	switch {
	case !killed:
		killCounts.survivors.Add(1)
	case k.Engine == "c":
		killCounts.points[0].Add(1)
	default:
		killCounts.points[1].Add(1)
	}
	left, err = readFiles(filepath.Dir(k.Path))
	if killed && len(left[baseName+"-journal"])+len(left[baseName+"-wal"]) > 0 {
		killCounts.journals.Add(1)
	}
	return left, acked, err
}

// lastVersion returns the version that a process acknowledged last, or else the one before.
func lastVersion(out []byte, before int64) (acked int64, err error) {
	acked = before
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan() && err == nil; {
		acked, err = strconv.ParseInt(lines.Text(), 10, 64)
	}
	return acked, err
}

// run runs a process, and tells whether it was killed. Any other end but success is an error.
func run(cmd *exec.Cmd) (out []byte, killed bool, err error) {
	out, err = cmd.Output()
	if wasKilled(err) {
		return out, true, nil
	}
	return out, false, err
}

// wasKilled reports whether the result of Wait is the end of a process that was killed.
func wasKilled(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// verify wants to find the acknowledged version, or one version more, and nothing else.
func (k *killer) verify(left files, acked int64) error {
	if k.rng.IntN(4) == 0 {
		if err := k.killRecovery(&left); err != nil {
			return fmt.Errorf("a killed recovery: %w", err)
		}
	}
	c, err := left.judge(k.dir)
	if err != nil {
		return err
	}
	if c.version < acked || c.version > acked+1 {
		return fmt.Errorf("%v is there", c)
	}
	if want := k.want[c.version+1]; c != want {
		return fmt.Errorf("%v is there, want %v", c, want)
	}
	return nil
}

// killRecovery lets both engines die over the recovery, one after the other.
func (k *killer) killRecovery(left *files) error {
	if err := left.write(filepath.Dir(k.Path)); err != nil {
		return err
	}
	for _, engine := range k.rng.Perm(2) {
		s := k.setting
		s.Engine = [...]string{"c", "ours"}[engine]
		p := killPoint{[...]string{"pwrite64", "fcntl", "unlink", "unlinkat", "ftruncate", "openat"}[k.rng.IntN(6)], 1 + k.rng.IntN(6)}
		_, killed, err := run(command("recover", &s, p.wrapper()...))
		if err != nil {
			return fmt.Errorf("at %v of %s: %w", p, s.Engine, err)
		}
		if killed {
			killCounts.recovered.Add(1)
		}
	}
	f, err := readFiles(filepath.Dir(k.Path))
	*left = f
	return err
}
