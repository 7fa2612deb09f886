//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

var mixedFor = flag.Duration("mixed.for", 3*time.Second, "how long TestMixed runs")

// readPause is how long a reader rests between two reads, on average: readers that never rest keep
// the processors from the daemons.
const readPause = 500 * time.Microsecond

const (
	promised   = 5 * time.Millisecond   // a mount shows by then what other programs have committed
	mixedLimit = 250 * time.Millisecond // and by then on a machine that has other things to do
	shortRun   = 10 * time.Second
)

// TestMixed lets two mounts of one volume, the library, SQLite and the command write at once. Each
// file has one writer, which writes increasing numbers and notes when each commit has returned.
// Readers on both mounts note whether a read that begins after that shows an older number, and how
// long after.
//
// The shell of SQLite never checkpoints here: versions before 3.51.3 can damage a log while another
// process writes. It does write to the log, as any program may.
func TestMixed(t *testing.T) {
	m := newMixed(t)
	var writers, readers sync.WaitGroup
	for i, w := range m.writers {
		writers.Go(func() { m.write(w, rand.New(rand.NewPCG(uint64(i), 0))) })
	}
	seen := make([]lateness, 4)
	for i := range seen {
		readers.Go(func() { m.read(m.mounts[i%2], &seen[i], rand.New(rand.NewPCG(uint64(i), 1))) })
	}
	time.Sleep(*mixedFor)
	m.over.Store(true)
	readers.Wait()
	writers.Wait()
	m.settle()
	m.report(seen)
	for _, d := range m.mounts {
		d.stop()
	}
	m.whole()
}

// A mixed is a volume that is mounted twice, with all its writers.
type mixed struct {
	t       *testing.T
	start   time.Time
	mounts  [2]*daemon
	vol     *folio.Volume
	writers []*mixedWriter
	all     []*sequence
	over    atomic.Bool
}

// A mixedWriter writes the files of one kind.
type mixedWriter struct {
	kind  string
	files []*sequence
	write func(name, text string, n int) error
	close func() error
}

// A sequence is a file whose content is a number that grows.
type sequence struct {
	name     string
	mu       sync.RWMutex    // guards returned
	returned []time.Duration // when the commits of 1, 2, 3 and so on returned, since the start
}

// text returns the content for a number: twice the same, to see whether a read was torn.
func (*sequence) text(n int) string { return fmt.Sprintf("%012d %012d\n", n, n) }

// late returns how long before a moment the number after n was committed.
func (s *sequence) late(n int, at time.Duration) (time.Duration, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if n >= len(s.returned) || s.returned[n] >= at {
		return 0, false
	}
	return at - s.returned[n], true
}

// last returns the number that was written last.
func (s *sequence) last() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.returned)
}

const sequencesEach = 3

func newMixed(t *testing.T) *mixed {
	path := newVolume(t)
	m := &mixed{t: t, mounts: [2]*daemon{startDaemon(t, path), startDaemon(t, path)}}
	var err error
	m.vol, err = folio.Open(path, nil)
	must.Do(t, err)
	t.Cleanup(func() { _ = m.vol.Close() })
	m.add("mount0", m.writeMount(m.mounts[0]), nil)
	m.add("mount1", m.writeMount(m.mounts[1]), nil)
	m.add("library", m.writeLibrary, nil)
	if program := buildFolio(t); program != "" {
		m.add("put", m.writePut(program), nil)
	}
	if shell, err := exec.LookPath("sqlite3"); err != nil {
		t.Log("left out: sqlite3 is not there")
	} else {
		s := startShell(t, shell, path)
		m.add("sqlite3", s.write, s.close)
	}
	m.start = time.Now()
	return m
}

// add adds a writer and its files.
func (m *mixed) add(kind string, write func(name, text string, n int) error, end func() error) {
	w := &mixedWriter{kind: kind, write: write, close: end}
	for i := range sequencesEach {
		s := &sequence{name: fmt.Sprintf("%s-%d", kind, i)}
		must.Do(m.t, m.vol.WriteFile(s.name, []byte(s.text(0)), 0o644))
		w.files = append(w.files, s)
	}
	m.writers, m.all = append(m.writers, w), append(m.all, w.files...)
}

// write writes numbers until the time is over.
func (m *mixed) write(w *mixedWriter, rng *rand.Rand) {
	for n := 1; !m.over.Load(); n++ {
		for _, s := range w.files {
			if err := w.write(s.name, s.text(n), n); err != nil {
				m.t.Errorf("%s: %v", s.name, err)
				return
			}
			at := time.Since(m.start)
			s.mu.Lock()
			s.returned = append(s.returned, at)
			s.mu.Unlock()
			if rng.IntN(4) == 0 {
				time.Sleep(time.Duration(rng.IntN(4000)) * time.Microsecond)
			}
		}
	}
	if w.close != nil {
		if err := w.close(); err != nil {
			m.t.Errorf("%s: %v", w.kind, err)
		}
	}
}

// writeMount writes through a mount: into the file, or into another file, which takes its name.
func (m *mixed) writeMount(d *daemon) func(name, text string, n int) error {
	return func(name, text string, n int) error {
		if n%4 == 0 {
			temporary := d.path(name + ".new")
			if err := os.WriteFile(temporary, []byte(text), 0o644); err != nil {
				return err
			}
			return os.Rename(temporary, d.path(name))
		}
		f, err := os.OpenFile(d.path(name), os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteAt([]byte(text), 0)
		return err
	}
}

// writeLibrary writes by the library in the same ways.
func (m *mixed) writeLibrary(name, text string, n int) error {
	if n%4 != 0 {
		return m.vol.WriteFile(name, []byte(text), 0o644)
	}
	return m.vol.Update(context.Background(), func(tx *folio.Tx) error {
		if err := tx.WriteFile(name+".new", []byte(text), 0o644); err != nil {
			return err
		}
		return tx.Rename(name+".new", name)
	})
}

// writePut writes by a command for each number.
func (m *mixed) writePut(program string) func(name, text string, n int) error {
	return func(name, text string, _ int) error {
		cmd := exec.Command(program, "put", "-", m.mounts[0].volume+":"+name)
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("folio put: %w: %s", err, out)
		}
		return nil
	}
}

// buildFolio builds the command, and returns "" where that cannot be done.
func buildFolio(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "folio")
	cmd := exec.Command("go", "build", "-o", program, ".")
	cmd.Dir = filepath.Join("..", "cmd", "folio")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Logf("left out: folio put: %v %s", err, out)
		return ""
	}
	return program
}

// A shell is a process of sqlite3 that updates rows.
type shell struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startShell(t *testing.T, program, volume string) *shell {
	t.Helper()
	s := &shell{cmd: exec.Command(program, "-batch", "-bail", volume)}
	s.cmd.Stderr = os.Stderr
	var err error
	s.in, err = s.cmd.StdinPipe()
	must.Do(t, err)
	out, err := s.cmd.StdoutPipe()
	must.Do(t, err)
	s.out = bufio.NewReader(out)
	must.Do(t, s.cmd.Start())
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	must.Do(t, s.run(".timeout 20000\npragma wal_autocheckpoint = 0;\n.dbconfig no_ckpt_on_close on\n"))
	return s
}

// run runs statements, and returns when the shell is done with them.
func (s *shell) run(statements string) error {
	if _, err := io.WriteString(s.in, statements+"select 'done';\n"); err != nil {
		return err
	}
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return err
		}
		if line == "done\n" {
			return nil
		}
	}
}

func (s *shell) write(name, text string, _ int) error {
	return s.run(fmt.Sprintf(
		"update data set bytes = x'%x' where id = (select ino << 28 from entry where parent = 1 and name = '%s');\n", text, name))
}

func (s *shell) close() error {
	_ = s.in.Close()
	return s.cmd.Wait()
}

// A lateness is what a reader has seen.
type lateness struct {
	reads int
	late  []time.Duration // of reads that showed an old number
	back  int             // reads of an older number than before: a write that has not returned can be seen, and vanish again
	torn  int
}

// read reads files through a mount until the time is over.
func (m *mixed) read(d *daemon, l *lateness, rng *rand.Rand) {
	last := make(map[*sequence]int)
	for !m.over.Load() {
		s := m.all[rng.IntN(len(m.all))]
		began := time.Since(m.start)
		n, ok := m.number(d, s)
		if m.t.Failed() {
			return
		}
		l.reads++
		if !ok {
			l.torn++
			continue
		}
		if by, is := s.late(n, began); is {
			l.late = append(l.late, by)
		}
		if n < last[s] {
			l.back++
		}
		last[s] = n
		time.Sleep(time.Duration(rng.Int64N(int64(2 * readPause))))
	}
}

// number returns the number that a mount shows, and reports whether the read was not torn. It can
// only be torn if the same mount wrote the file meanwhile, as in any file system of the kernel.
func (m *mixed) number(d *daemon, s *sequence) (n int, ok bool) {
	text, err := readAll(d.path(s.name))
	if err != nil {
		m.t.Errorf("%s: %v", s.name, err)
		return 0, false
	}
	var again int
	if _, err := fmt.Sscanf(text, "%d %d\n", &n, &again); err != nil || n != again {
		if !strings.HasPrefix(s.name, "mount") {
			m.t.Errorf("%s: a read showed %q", s.name, text)
		}
		return 0, false
	}
	return n, true
}

// settle waits until both mounts show what was written last.
func (m *mixed) settle() {
	m.t.Helper()
	for _, s := range m.all {
		got, err := m.vol.ReadFile(s.name)
		if want := s.text(s.last()); err != nil || string(got) != want {
			m.t.Errorf("%s: the library reads %q, %v; want %q", s.name, got, err, want)
		}
		for _, d := range m.mounts {
			for start := time.Now(); ; {
				text, err := readAll(d.path(s.name))
				if err == nil && text == s.text(s.last()) {
					break
				}
				if time.Since(start) > 2*time.Second {
					m.t.Errorf("%s: the mount shows %q, %v; %d was written last", s.name, text, err, s.last())
					break
				}
			}
		}
	}
}

// report logs what all readers have seen.
func (m *mixed) report(seen []lateness) {
	var all lateness
	for _, l := range seen {
		all.reads, all.back, all.torn = all.reads+l.reads, all.back+l.back, all.torn+l.torn
		all.late = append(all.late, l.late...)
	}
	for _, w := range m.writers {
		commits := 0
		for _, s := range w.files {
			commits += s.last()
		}
		m.t.Logf("%s: %d commits", w.kind, commits)
	}
	slices.Sort(all.late)
	late := len(all.late)
	beyond := 0
	for _, by := range all.late {
		if by > promised {
			beyond++
		}
	}
	m.t.Logf("%d reads: %d torn, %d of an older number than before, %d of one that was old when they began", all.reads, all.torn, all.back, late)
	if late > 0 {
		m.t.Logf("of these: %v (median), %v (99 of 100), %v (last); %d beyond %v", all.late[late/2], all.late[late*99/100], all.late[late-1], beyond, promised)
	}
	if all.reads == 0 {
		m.t.Error("nothing was read")
	}
	if late > 0 && all.late[late-1] > mixedLimit && *mixedFor <= shortRun { // in a long run, the report is the result
		m.t.Errorf("a read showed what was old for %v", all.late[late-1])
	}
}

// whole checks the volume when nothing is mounted any more.
func (m *mixed) whole() {
	m.t.Helper()
	must.Do(m.t, m.vol.Close())
	checkVolume(m.t, m.mounts[0].volume)
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		return
	}
	out, err := exec.Command(shell, m.mounts[0].volume, "pragma integrity_check").CombinedOutput()
	if err != nil || string(out) != "ok\n" {
		m.t.Errorf("integrity_check: %v %s", err, out)
	}
}
