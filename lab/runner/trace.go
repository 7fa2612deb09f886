package runner

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// traced are the system calls that are counted: strace's classes for files by name and by
// descriptor, and for memory. Other calls run at their own speed.
const traced = "trace=%file,%desc,%memory"

// strace returns the program that runs p under strace, which writes to a file.
func strace(p program, to string) program {
	args := []string{"-f", "--seccomp-bpf", "-qq", "-s", "0", "-e", traced, "-e", "signal=none", "-o", to, "--", p.path}
	return program{"strace", append(args, p.args...)}
}

// noTracer says why system calls cannot be counted here; "" if they can.
func noTracer(ctx context.Context) string {
	if _, err := exec.LookPath("strace"); err != nil {
		return "strace is not installed"
	}
	p := strace(program{path: "true"}, os.DevNull)
	if out, err := exec.CommandContext(ctx, p.path, p.args...).CombinedOutput(); err != nil {
		return fmt.Sprintf("strace does not work here: %v: %s", err, OneLine(out))
	}
	return ""
}

// traceRecord counts the calls in strace's output.
func traceRecord(c result.Cell, ops int64, name string, whole bool) (result.Record, error) {
	f, err := os.Open(name)
	if err != nil {
		return result.Record{}, err
	}
	defer f.Close()
	calls, err := countCalls(f, whole)
	if err != nil {
		return result.Record{}, fmt.Errorf("%s: %w", name, err)
	}
	return result.Record{Trace: &result.Trace{Case: c.Case, Contender: c.Contender, Ops: ops, Calls: calls}}, nil
}

// countCalls counts calls between the two marks that a contender leaves, or all of a whole process.
// A call is counted where it begins.
func countCalls(r io.Reader, whole bool) (map[string]int64, error) {
	calls := map[string]int64{"fsync": 0, "fdatasync": 0}
	counting, begun, ended := whole, whole, whole
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.Contains(line, `"`+workload.TraceBegin+`"`):
			counting, begun = true, true
			continue
		case strings.Contains(line, `"`+workload.TraceEnd+`"`):
			counting, ended = whole, true
		}
		if name := callName(line); counting && name != "" {
			calls[name]++
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if !begun || !ended {
		return nil, fmt.Errorf("strace has not seen the clock start and stop")
	}
	return calls, nil
}

// callName is the call that begins in a line such as "123 pread64(3, ..."; "" if none does.
func callName(line string) string {
	line = strings.TrimLeft(line, "0123456789 ")
	name, _, ok := strings.Cut(line, "(")
	if !ok || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_0123456789") != "" {
		return ""
	}
	return name
}
