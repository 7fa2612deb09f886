package volumetest

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/race"
	"github.com/foliofs/folio/internal/random"
)

var (
	killMembers = flag.Int("kill.processes", 7, "how many processes TestKilled has at a time; three of ten read, the others write")
	killFor     = flag.Duration("kill.for", 0, "for how long TestKilled goes on; 0 is two rounds")
)

// killVariable tells a process which member of TestKilled it is.
const killVariable = "FOLIO_TEST_MEMBER"

// A killMember is one of the processes.
type killMember struct {
	path    string
	seed    uint64
	id      int
	writers int // the first so many members write
	step    int // the last acknowledged step
}

func (m *killMember) String() string {
	return fmt.Sprintf("%d %d %d %d %s", m.seed, m.id, m.writers, m.step, m.path)
}

// TestKilled kills processes while they write and read one volume, again and again: one at a time,
// or all of them. Acknowledged steps must have happened, the rest as a whole or not at all. A
// reader must not see half of a step. SQLite has the last word. Soak:
//
//	go test ./internal/volumetest -run TestKilled -kill.processes 20 -kill.for 10m -timeout 0
func TestKilled(t *testing.T) {
	race.Skip(t, "it runs processes")
	if job := os.Getenv(killVariable); job != "" {
		beMember(t, job)
		return
	}
	t.Parallel()
	r := random.New(t)
	k := &killing{t: t, path: filepath.Join(t.TempDir(), "test.folio")}
	v, err := folio.Open(k.path, &folio.Options{Create: true})
	must.Do(t, err)
	must.Do(t, openAccounts(v))
	writers := max(1, *killMembers*7/10)
	for id := range *killMembers {
		k.members = append(k.members, &killMember{path: k.path, id: id, writers: writers})
	}
	end := time.Now().Add(*killFor)
	for round := 0; round < 2 || time.Now().Before(end); round++ {
		k.round(r)
		k.check(v)
		if round%2 == 0 { // the next ones die as the last that have it open
			must.Do(t, v.Close())
			k.round(r)
			v, err = folio.Open(k.path, nil)
			must.Do(t, err)
			k.check(v)
			k.wantNothingLeft(v)
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("%d rounds, %d kills, %d steps of writers, %d of readers, %d snapshots", k.rounds, k.kills.Load(), k.steps.Load(), k.reads.Load(), k.snapshots)
	must.Do(t, v.Close())
	if got := sqlite(t, k.path, "PRAGMA integrity_check"); got != "ok" {
		t.Error(got)
	}
}

// A killing is TestKilled at work.
type killing struct {
	t       *testing.T
	path    string
	members []*killMember

	rounds, snapshots   int
	kills, steps, reads atomic.Int64
}

// round lets each member live some times, until it is killed.
func (k *killing) round(r *rand.Rand) {
	k.rounds++
	var wg sync.WaitGroup
	for _, m := range k.members {
		m.seed = r.Uint64()
		own := rand.New(rand.NewPCG(m.seed, 1))
		wg.Go(func() {
			for range 1 + own.IntN(3) {
				k.live(m, 1+own.IntN(120))
			}
		})
	}
	wg.Wait()
}

// live runs a member, and kills it once it has acknowledged so many steps more.
func (k *killing) live(m *killMember, enough int) {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%v", killVariable, m))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		k.t.Error(err)
		return
	}
	count := &k.steps
	if m.id >= m.writers {
		count = &k.reads
	}
	from := m.step
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			k.t.Errorf("member %d: %s", m.id, lines.Text())
			break
		}
		count.Add(1)
		if m.step = n; n >= from+enough {
			_ = cmd.Process.Kill() // and go on reading its output
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	k.kills.Add(1)
}

// check compares the volume with the steps of all writers.
func (k *killing) check(v *folio.Volume) {
	k.t.Helper()
	WantClean(k.t, v)
	must.Do(k.t, v.View(k.t.Context(), wantAccounts))
	k.wantSnapshots(v)
	seen := k.lines(v)
	for _, m := range k.members[:k.members[0].writers] {
		if m.step > 0 {
			k.wantWritten(v, m, seen[m.id])
		}
	}
}

// wantNothingLeft checks that all inodes have a name: no process has a file open.
func (k *killing) wantNothingLeft(v *folio.Volume) {
	k.t.Helper()
	report, err := v.Check(k.t.Context(), nil)
	must.Do(k.t, err)
	files := int64(0)
	must.Do(k.t, fs.WalkDir(v.FS(), ".", func(string, fs.DirEntry, error) error {
		files++
		return nil
	}))
	if report.Nodes != files {
		k.t.Errorf("%d inodes for %d files: what the killed ones had open is left", report.Nodes, files)
	}
}

// lines returns which steps of which writers are in the log.
func (k *killing) lines(v *folio.Volume) map[int]map[int]bool {
	p, err := v.ReadFile("log")
	must.Do(k.t, err)
	seen := make(map[int]map[int]bool)
	for line := range strings.Lines(string(p)) {
		w, step, err := parseLine(line)
		must.Do(k.t, err)
		if seen[w] == nil {
			seen[w] = make(map[int]bool)
		}
		seen[w][step] = true
	}
	return seen
}

// parseLine returns the content of a line of the log.
func parseLine(line string) (w, step int, err error) {
	var rest string
	if _, err = fmt.Sscanf(line, "%d %d %s\n", &w, &step, &rest); err == nil && len(rest) != 1+step%300 {
		err = errors.New("a part of it")
	}
	if err != nil {
		err = fmt.Errorf("a line of the log, %q: %w", line, err)
	}
	return w, step, err
}

// wantWritten compares the volume with the steps of a writer, whose next step may have begun.
func (k *killing) wantWritten(v *folio.Volume, m *killMember, seen map[int]bool) {
	k.t.Helper()
	must.Do(k.t, v.View(k.t.Context(), func(rx *folio.Rx) error {
		for _, name := range []string{"a", "c"} {
			step, err := readStep(rx, m.id, name)
			if err != nil {
				return err
			}
			if step != m.step && step != m.step+1 {
				k.t.Errorf("writer %d, %s: step %d, want %d or the next", m.id, name, step, m.step)
			}
		}
		return wantPair(rx, m.id)
	}))
	for step := 1; step <= m.step; step++ {
		if !seen[step] {
			k.t.Errorf("writer %d: line %d of %d is missing", m.id, step, m.step)
			return
		}
	}
}

// beMember works as a member until it is killed.
func beMember(t *testing.T, job string) {
	m := new(killMember)
	_, err := fmt.Sscanf(job, "%d %d %d %d %s", &m.seed, &m.id, &m.writers, &m.step, &m.path)
	must.Do(t, err)
	v, err := folio.Open(m.path, &folio.Options{BusyTimeout: time.Minute})
	must.Do(t, err)
	r := rand.New(rand.NewPCG(m.seed, 2))
	reader := killReader{v: v, newest: make(map[int]int)}
	for n := m.step + 1; ; n++ {
		if m.id < m.writers {
			err = m.write(v, r, n)
		} else {
			err = reader.read(r.IntN(m.writers))
		}
		if err != nil {
			fmt.Printf("step %d: %v\n", n, err)
			return
		}
		fmt.Println(n)
	}
}

// write makes one step: it replaces files alone, as a pair and by renaming, moves a directory,
// appends a line, transfers an amount, and keeps a file open that has no name.
func (m *killMember) write(v *folio.Volume, r *rand.Rand, n int) error {
	name := func(s string) string { return fmt.Sprint(m.id, ".", s) }
	err := v.Update(context.Background(), func(tx *folio.Tx) error {
		if err := errors.Join(tx.WriteFile(name("a"), stepContent(n), 0o644), tx.MkdirAll(name("dir/x"), 0o755)); err != nil {
			return err
		}
		return errors.Join(tx.WriteFile(name("dir/x/b"), stepContent(n), 0o644), tx.Rename(name("dir"), name("moved")),
			tx.RemoveAll(name("old")), tx.Rename(name("moved"), name("dir")))
	})
	if err != nil {
		return err
	}
	if err := errors.Join(v.WriteFile(name("new"), stepContent(n), 0o644), v.Rename(name("new"), name("c"))); err != nil {
		return err
	}
	if err := appendLine(v, fmt.Sprintln(m.id, n, strings.Repeat("x", 1+n%300))); err != nil {
		return err
	}
	if err := transfer(v, r.IntN(accounts), r.IntN(accounts), r.IntN(100)); err != nil {
		return err
	}
	switch n % 10 {
	case 0:
		return unnamed(v, name("unnamed"), stepContent(n))
	case 3:
		return m.snapshot(v, n)
	case 5:
		return v.Sync(context.Background())
	}
	return nil
}

// snapshot makes a snapshot that is named after a step, and removes an older one. A life before
// this one may have done so already.
func (m *killMember) snapshot(v *folio.Volume, n int) error {
	err := v.CreateSnapshot(context.Background(), fmt.Sprint(m.id, ".", n))
	if err == nil || errors.Is(err, folio.ErrSnapshotExists) {
		err = v.RemoveSnapshot(context.Background(), fmt.Sprint(m.id, ".", n-20))
	}
	if errors.Is(err, folio.ErrNoSnapshot) {
		err = nil
	}
	return err
}

// wantSnapshots checks that each snapshot shows the step that it is named after.
func (k *killing) wantSnapshots(v *folio.Volume) {
	k.t.Helper()
	list, err := v.Snapshots(k.t.Context())
	must.Do(k.t, err)
	for _, s := range list {
		var id, n int
		_, err := fmt.Sscanf(s.Name, "%d.%d", &id, &n)
		must.Do(k.t, err)
		at, err := v.OpenSnapshot(context.Background(), s.Name)
		must.Do(k.t, err)
		must.Do(k.t, at.View(k.t.Context(), func(rx *folio.Rx) error {
			for _, name := range []string{"a", "c"} {
				if step, err := readStep(rx, id, name); err != nil || step != n {
					return fmt.Errorf("snapshot %s: %s is of step %d, %w", s.Name, name, step, err)
				}
			}
			return errors.Join(wantPair(rx, id), wantAccounts(rx))
		}))
		must.Do(k.t, at.Close())
		k.snapshots++
	}
}

func appendLine(v *folio.Volume, line string) error {
	f, err := v.OpenFile("log", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}

// unnamed writes a file that has lost its name, and never closes it.
func unnamed(v *folio.Volume, name string, content []byte) error {
	f, err := v.Create(name)
	if err != nil {
		return err
	}
	if err := v.Remove(name); err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return err
	}
	got, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
	if err == nil && string(got) != string(content) {
		err = errors.New("a file without a name has lost its content")
	}
	return err
}

func stepContent(n int) []byte {
	return []byte(strings.Repeat(fmt.Sprint(n, " "), 1+n*37%5000))
}

// readStep returns the step that wrote a file of a writer, all of it.
func readStep(s Snapshot, w int, name string) (step int, err error) {
	p, err := s.ReadFile(fmt.Sprint(w, ".", name))
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscan(string(p[:min(len(p), 20)]), &step); err != nil || string(p) != string(stepContent(step)) {
		return 0, fmt.Errorf("writer %d, %s: %d bytes that no step wrote, %.20q, %w", w, name, len(p), p, err)
	}
	return step, nil
}

// wantPair checks that the two files that a writer changes as one are of one step.
func wantPair(s Snapshot, w int) error {
	a, err := readStep(s, w, "a")
	if err != nil {
		return err
	}
	b, err := readStep(s, w, "dir/x/b")
	if err == nil && a != b {
		err = fmt.Errorf("writer %d: steps %d and %d of one transaction", w, a, b)
	}
	return err
}

// A killReader looks for states that must never be seen.
type killReader struct {
	v      *folio.Volume
	newest map[int]int // step of each writer that was seen
}

// read looks at the files of a writer, and at the file that all share.
func (k *killReader) read(w int) error {
	if _, err := k.v.Stat(fmt.Sprint(w, ".c")); err != nil {
		return ignoreMissing(err) // the writer has not begun
	}
	step, err := readStep(k.v, w, "c")
	if err == nil && step < k.newest[w] {
		err = fmt.Errorf("writer %d has gone back from step %d to %d", w, k.newest[w], step)
	}
	if err != nil {
		return err
	}
	k.newest[w] = step
	err = k.v.View(context.Background(), func(rx *folio.Rx) error { return errors.Join(wantPair(rx, w), wantAccounts(rx)) })
	if err != nil {
		return err
	}
	return k.readLog()
}

// readLog checks that the log ends in a whole line.
func (k *killReader) readLog() error {
	f, err := k.v.Open("log")
	if err != nil {
		return ignoreMissing(err)
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 { // made, and not written to yet
		return err
	}
	p := make([]byte, min(size, 1000))
	if _, err := f.ReadAt(p, size-int64(len(p))); err != nil {
		return err
	}
	lines := strings.SplitAfter(string(p), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return fmt.Errorf("the log ends in %q", last)
	}
	for _, line := range lines[1 : len(lines)-1] {
		if _, _, err := parseLine(line); err != nil {
			return err
		}
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Accounts are files with a number each, whose sum never changes.
const (
	accounts = 8
	balance  = 1000
)

func account(i int) string { return fmt.Sprint("accounts/", i) }

func openAccounts(v *folio.Volume) error {
	return v.Update(context.Background(), func(tx *folio.Tx) error {
		err := tx.Mkdir("accounts", 0o755)
		for i := range accounts {
			err = errors.Join(err, tx.WriteFile(account(i), []byte(fmt.Sprint(balance)), 0o644))
		}
		return err
	})
}

// transfer moves an amount by replacing both files.
func transfer(v *folio.Volume, from, to, amount int) error {
	if from == to {
		return nil
	}
	return v.Update(context.Background(), func(tx *folio.Tx) error {
		for i, change := range map[int]int{from: -amount, to: amount} {
			n, err := readAccount(tx, i)
			if err == nil {
				err = errors.Join(tx.WriteFile("accounts/new", []byte(fmt.Sprint(n+change)), 0o644), tx.Rename("accounts/new", account(i)))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func readAccount(s Snapshot, i int) (int, error) {
	p, err := s.ReadFile(account(i))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(p))
}

func wantAccounts(rx *folio.Rx) error {
	sum := 0
	for i := range accounts {
		n, err := readAccount(rx, i)
		if err != nil {
			return err
		}
		sum += n
	}
	if sum != accounts*balance {
		return fmt.Errorf("the accounts hold %d in all, want %d", sum, accounts*balance)
	}
	return nil
}
