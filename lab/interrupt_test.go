//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
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

// Control-C on a terminal reaches the command and all that it has started. What was measured until then is kept, nothing is left in the
// directory of the stores, and the same command with --resume goes on.
func TestInterrupt(t *testing.T) {
	dir := isolate(t)
	out, stores := filepath.Join(dir, "run.jsonl"), filepath.Join(dir, "stores")
	args := []string{
		"run", "write", "--contenders", "engine,files:os", "--rounds", "100000", "--write.shape", "sequential", "--write.durability", "none",
		"--write.inserts", "50", "--dirs", stores, "--out", out,
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "FOLIO_LAB_COMMAND=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for samples(out) < 5 {
		if cmd.ProcessState != nil || syscall.Kill(cmd.Process.Pid, 0) != nil {
			t.Fatalf("it has ended: %s", &stderr)
		}
		time.Sleep(time.Millisecond)
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	if cmd.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(stderr.String(), "what was measured is kept") {
		t.Errorf("%v: %s", err, &stderr)
	}
	s, err := result.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	kept := len(s.Samples)
	if s.End == nil || !s.End.Interrupted || kept < 5 || s.End.Samples != kept || len(s.Failures) > 0 {
		t.Errorf("%d samples, failures %+v, end %+v", kept, s.Failures, s.End)
	}
	if left, err := filepath.Glob(filepath.Join(stores, "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("stores are left: %v, %v", left, err)
	}

	rounds := s.Samples[kept-1].Round + 1
	for i, a := range args {
		if a == "100000" {
			args[i] = strconv.Itoa(rounds)
		}
	}
	if code, _, stderr := lab(t, append(args, "--resume")...); code != exitOK {
		t.Fatalf("resumed: exit %d: %s", code, stderr)
	}
	if s, err = result.ReadFile(out); err != nil || len(s.Samples) != 2*rounds || s.End.Interrupted {
		t.Errorf("resumed: %d samples in %d rounds, end %+v, %v", len(s.Samples), rounds, s.End, err)
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
