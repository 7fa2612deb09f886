//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio/lab/result"
)

// TestMain makes this test binary the command itself, for tests that need a process.
func TestMain(m *testing.M) {
	if os.Getenv("FOLIO_LAB_COMMAND") != "" {
		main()
	}
	os.Exit(m.Run())
}

// A running is the command in a process group of its own.
type running struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ended  chan struct{}
}

func begin(t *testing.T, args ...string) *running {
	t.Helper()
	r := &running{cmd: exec.Command(os.Args[0], args...), ended: make(chan struct{})}
	r.cmd.Env = append(os.Environ(), "FOLIO_LAB_COMMAND=1")
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.Stderr = &r.stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = r.cmd.Wait()
		close(r.ended)
	}()
	return r
}

// lastLine returns the last line that a command wrote to standard error: lines of progress come
// before it.
func lastLine(stderr *bytes.Buffer) string {
	lines := strings.SplitAfter(stderr.String(), "\n")
	return lines[max(0, len(lines)-2)]
}

// signal sends one to the whole group when something is so, and waits for the end.
func (r *running) signal(t *testing.T, sig syscall.Signal, when func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !when() {
		select {
		case <-r.ended:
			t.Fatalf("it has ended: %s", &r.stderr)
		case <-tick.C:
		}
	}
	if err := syscall.Kill(-r.cmd.Process.Pid, sig); err != nil {
		t.Fatal(err)
	}
	<-r.ended
}

// Control-C on a terminal reaches the command and all its children. The finished samples are kept,
// the directory of the stores is empty afterwards, and the same command with --resume continues.
// The test interrupts while contenders are built, while samples are taken, and once more.
func TestInterrupt(t *testing.T) {
	dir := isolate(t)
	out, stores := filepath.Join(dir, "run.jsonl"), filepath.Join(dir, "stores")
	args := []string{
		"run", "write", "--contenders", "engine,files:os", "--samples", "100000", "--write.shape", "sequential", "--write.durability", "none",
		"--write.inserts", "50", "--dirs", stores, "--out", out,
	}
	kept := 0
	for i, until := range []func() bool{
		func() bool { return exists(out) }, // that comes before anything is built
		func() bool { return samples(out) >= 5 },
		func() bool { return samples(out) >= kept+5 },
	} {
		if i == 1 {
			args = append(args, "--resume")
		}
		r := begin(t, args...)
		r.signal(t, syscall.SIGINT, until)
		s, err := result.ReadFile(out)
		if err != nil {
			t.Fatalf("interruption %d: %v; %s", i, err, &r.stderr)
		}
		want := fmt.Sprintf("lab: interrupted; %d samples are kept in %s, and the same command with --resume continues\n", len(s.Samples), out)
		if code := r.cmd.ProcessState.ExitCode(); code != exitInterrupted || lastLine(&r.stderr) != want {
			t.Errorf("interruption %d: exit %d: %s, want %s", i, code, &r.stderr, want)
		}
		if s.End == nil || !s.End.Interrupted || len(s.Samples) < 5*i || s.End.Samples != len(s.Samples) || len(s.Failures) > 0 {
			t.Errorf("interruption %d: %d samples, failures %+v, end %+v", i, len(s.Samples), s.Failures, s.End)
		}
		if left, err := filepath.Glob(filepath.Join(stores, "*", "*")); err != nil || len(left) > 0 {
			t.Errorf("interruption %d: stores are left: %v, %v", i, left, err)
		}
		kept = len(s.Samples)
	}

	s, err := result.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	rounds := s.Samples[kept-1].Round + 1
	args[slices.Index(args, "100000")] = strconv.Itoa(rounds)
	if code, _, stderr := lab(t, args...); code != exitOK {
		t.Fatalf("resumed: exit %d: %s", code, stderr)
	}
	if s, err = result.ReadFile(out); err != nil || len(s.Samples) != 2*rounds || s.End.Interrupted {
		t.Errorf("resumed: %d samples in %d rounds, end %+v, %v", len(s.Samples), rounds, s.End, err)
	}
}

// A killed query leaves a copy of the user's database, and the next command removes it. An
// interrupted query leaves nothing.
func TestQueryKilled(t *testing.T) {
	dir := isolate(t)
	db := filepath.Join(dir, "app.db")
	openShell(t, db).do(t, userTable)
	out := filepath.Join(dir, "run.jsonl")
	args := []string{
		"query", "--db", db, "--query", "SELECT name FROM user WHERE id = ?", "--args-from", "SELECT id FROM user", "--contenders", "ncruces:native",
		"--goroutines", "1", "--reads", "50", "--samples", "100000",
	}
	copies := func() []string {
		list, err := filepath.Glob(filepath.Join(dir, "cache", "folio-lab", "folio-lab", "*", "query.db"))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		name := out + sig.String()
		begin(t, append(args, "--out", name)...).signal(t, sig, func() bool {
			if samples(name) == 0 {
				return false
			}
			if n := len(copies()); n != 1 {
				t.Errorf("there are %d copies in a run", n)
			}
			return true
		})
		if left := copies(); (len(left) > 0) != (sig == syscall.SIGKILL) {
			t.Errorf("after %v there are %v", sig, left)
		}
	}
}

// smallDisk mounts one.
func smallDisk(t *testing.T, path, size string) {
	t.Helper()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("a small disk is mounted by root on Linux")
	}
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", path).CombinedOutput(); err != nil {
		t.Skipf("a small disk cannot be mounted here: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", path).Run() })
}

// A disk that fills up ends the run in a line. The earlier records are whole, and the run can be
// resumed when there is room.
func TestFullOut(t *testing.T) {
	dir := isolate(t)
	small := filepath.Join(dir, "small")
	smallDisk(t, small, "2m")
	out, filler := filepath.Join(small, "run.jsonl"), filepath.Join(small, "filler")
	args := []string{
		"run", "write", "--contenders", "engine", "--samples", "100", "--write.shape", "sequential", "--write.durability", "none",
		"--write.inserts", "50", "--dirs", filepath.Join(dir, "stores"), "--out", out,
	}
	r := begin(t, args...)
	r.signal(t, syscall.SIGCONT, func() bool { // which does nothing
		if samples(out) < 3 {
			return false
		}
		if err := os.WriteFile(filler, make([]byte, 4<<20), 0o666); err == nil {
			t.Error("the disk is larger than it should be")
		}
		return true
	})
	const want = "no space left on device; the records before it are whole: make room, and continue with --resume\n"
	if code := r.cmd.ProcessState.ExitCode(); code != exitFailure || !strings.HasSuffix(lastLine(&r.stderr), want) {
		t.Errorf("exit %d: %s, want %s", code, &r.stderr, want)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	before := samples(out)
	if before < 3 || before == 100 {
		t.Errorf("%d samples were written", before)
	}
	if code, _, stderr := lab(t, append(args, "--resume")...); code != exitOK || samples(out) != 100 {
		t.Errorf("resumed: exit %d, %d samples: %s", code, samples(out), stderr)
	}
}

// samples counts those that are in a file of results so far.
func samples(path string) int {
	s, err := result.ReadFile(path)
	if err != nil {
		return 0
	}
	return len(s.Samples)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
