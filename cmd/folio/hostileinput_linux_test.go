package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	hostileInputs = flag.Int("hostile.inputs", 40, "how many hostile archives and databases TestHostileInputs takes in")
	hostileFirst  = flag.Int("hostile.first", 1, "the number of the first")
	hostileKeep   = flag.String("hostile.keep", "", "a directory for those that fail")
)

const (
	hostileTime   = 20 * time.Second
	hostileMemory = 500 << 10 // KiB
	hostileLine   = 300_000   // bytes of an error: a name may have 65,535, each as an escape
)

// A hostileRun takes in hostile inputs by the command, as processes of their own.
type hostileRun struct {
	t              *testing.T
	dir, bin       string
	python         string
	measure        string // a program of Python
	taken, refused int
	peak           int64  // KiB
	said           string // the errors of the last command
}

// TestHostileInputs takes in archives and databases that a generator of its own has written: with
// lies, cycles, names that lead elsewhere, bombs, and bytes changed at random. Each becomes a
// volume in which check finds nothing, or one line of an error, and then nothing is left.
func TestHostileInputs(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	measure, err := filepath.Abs("testdata/hostile/measure.py")
	if err != nil {
		t.Fatal(err)
	}
	h := &hostileRun{t: t, dir: t.TempDir(), python: python, measure: measure}
	h.bin = filepath.Join(h.dir, "folio")
	if out, err := exec.Command("go", "build", "-o", h.bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	canary := filepath.Join(h.dir, "canary")
	if err := os.WriteFile(canary, []byte("alive"), 0o600); err != nil {
		t.Fatal(err)
	}
	seeds := h.seeds()
	in := filepath.Join(h.dir, "in")
	const batch = 100
	for n := 0; n < *hostileInputs; n += batch {
		if err := cmp.Or(os.RemoveAll(in), os.Mkdir(in, 0o755)); err != nil {
			t.Fatal(err)
		}
		args := []string{"testdata/hostile/generate.py", fmt.Sprint(*hostileFirst + n), fmt.Sprint(min(batch, *hostileInputs-n)), in, canary}
		list, err := exec.Command(python, append(args, seeds...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(list)) {
			h.input(in, strings.TrimSpace(line))
		}
	}
	if got, err := os.ReadFile(canary); err != nil || string(got) != "alive" {
		t.Errorf("something outside was changed: %q, %v", got, err)
	}
	t.Logf("%d inputs: %d taken in, %d refused; at most %d MiB", *hostileInputs, h.taken, h.refused, h.peak>>10)
	if *hostileInputs >= 40 && (h.taken < *hostileInputs/10 || h.refused < *hostileInputs/10) {
		t.Error("the inputs are too much alike")
	}
}

// seeds returns sound archives.
func (h *hostileRun) seeds() (list []string) {
	volume := makeOdd(h.t)
	for _, kind := range []string{"tar", "tar.gz", "tar.zst", "zip", "sqlar"} {
		at := filepath.Join(h.dir, "seed."+kind)
		if code, _, stderr := runFolio(h.t, "export", "-q", volume, at); code != exitOK {
			h.t.Fatal(stderr)
		}
		list = append(list, at)
	}
	return list
}

// input takes in one input. Its line says what is wrong with it.
func (h *hostileRun) input(in, line string) {
	name, _, _ := strings.Cut(line, "\t")
	file, failed := filepath.Join(in, name), false
	var number uint64
	_, _ = fmt.Sscan(strings.SplitN(name, ".", 2)[0], &number)
	r := rand.New(rand.NewPCG(number, 0))
	dir := filepath.Join(h.dir, "work")
	fail := func(format string, args ...any) {
		failed = true
		h.t.Errorf("%.300s\n\t%s", line, fmt.Sprintf(format, args...))
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		h.t.Fatal(err)
	}
	h.take(r, dir, file, fail)
	if err := os.RemoveAll(dir); err != nil {
		h.t.Fatal(err)
	}
	if failed && *hostileKeep != "" {
		raw, err := os.ReadFile(file)
		if err = cmp.Or(err, os.WriteFile(filepath.Join(*hostileKeep, name), raw, 0o600)); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *hostileRun) take(r *rand.Rand, dir, file string, fail func(format string, args ...any)) {
	code := h.run(dir, fail, nil, "v.folio", "import", "-q", file, "v.folio")
	said := h.said
	if code != 0 && code != 3 {
		h.refused++
	} else {
		h.taken++
		h.look(r, dir, fail)
	}
	if r.IntN(4) > 0 {
		return
	}
	target := "out." + []string{"tar", "tar.zst", "zip", "sqlar", "folio"}[r.IntN(5)]
	var there []string
	if code == 0 || code == 3 {
		there = append(there, "v.folio")
	}
	converted := h.run(dir, fail, there, target, "convert", "-q", file, target)
	if (converted == 0) != (code == 0) && converted != 3 && code != 3 && (code != 0 || strings.HasSuffix(target, ".folio")) {
		fail("import ended with %d (%s), and convert to %s with %d (%s)", code, said, target, converted, h.said)
	}
}

// look checks a volume, and exports it now and then.
func (h *hostileRun) look(r *rand.Rand, dir string, fail func(format string, args ...any)) {
	there := []string{"v.folio"}
	if code := h.run(dir, fail, there, "", "check", "v.folio"); code != 0 {
		fail("check ended with %d", code)
	}
	if r.IntN(3) > 0 {
		return
	}
	if code := h.run(dir, fail, there, "tree", "export", "-q", "v.folio", "tree"); code != 0 {
		h.removeTree(dir) // this disk may not have names as long, or sizes and attributes as large
		return
	}
	if h.said != "" {
		h.removeTree(dir) // nor such devices
		return
	}
	// A disk may not have owners and times as large.
	if code := h.run(dir, fail, append(there, "tree"), "", "diff", "--attributes", "none", "v.folio:", "tree"); code != 0 {
		fail("the tree on disk differs from the volume")
	}
	h.removeTree(dir)
}

func (h *hostileRun) removeTree(dir string) {
	if err := os.RemoveAll(filepath.Join(dir, "tree")); err != nil {
		h.t.Fatal(err)
	}
}

// run runs the command, and returns its exit code. there is what the directory holds before, and
// made what the command adds if it does its work.
func (h *hostileRun) run(dir string, fail func(format string, args ...any), there []string, made string, args ...string) int {
	ctx, cancel := context.WithTimeout(h.t.Context(), hostileTime)
	defer cancel()
	cmd := h.command(ctx, dir, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		h.t.Fatal(err)
	}
	code := cmd.ProcessState.ExitCode()
	h.said = errs.String()
	if ctx.Err() != nil {
		fail("%q did not end", args)
		return code
	}
	if peak := h.lastPeak(); peak > hostileMemory {
		fail("%q took %d MiB", args, peak>>10)
	} else {
		h.peak = max(h.peak, peak)
	}
	lines := slices.DeleteFunc(strings.SplitAfter(errs.String(), "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, "folio: warning: ") && strings.HasSuffix(line, "\n")
	})
	want := 0
	if code != 0 && code != 3 && args[0] != "diff" {
		want = 1
	}
	if code < 0 || code > 3 || code == 2 || len(lines) != want || want == 1 && (!strings.HasPrefix(lines[0], "folio: ") || strings.ContainsAny(strings.TrimSpace(lines[0]), "\n\x1b\x00")) {
		fail("%q ended with %d: %.2000q", args, code, errs.String())
	}
	if len(strings.Join(lines, "")) > hostileLine {
		fail("%q ended with an error of %d bytes", args, errs.Len())
	}
	if made != "" && (code == 0 || code == 3) {
		there = append(slices.Clone(there), made)
	}
	if got := namesIn(h.t, dir); !slices.Equal(got, slices.Sorted(slices.Values(there))) {
		fail("%q ended with %d (%.300q) and left %q, want %q", args, code, errs.String(), got, there)
	}
	return code
}

// command returns a command that a small process starts and measures.
func (h *hostileRun) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	limited := []string{"sh", "-c", `ulimit -v 2097152; exec "$@"`, "sh", h.bin}
	cmd := exec.CommandContext(ctx, h.python, slices.Concat([]string{"-IS", h.measure, h.peakFile()}, limited, args)...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

func (h *hostileRun) peakFile() string { return filepath.Join(h.dir, "peak") }

// lastPeak returns the most memory, in KiB, that the last command has had.
func (h *hostileRun) lastPeak() (n int64) {
	text, err := os.ReadFile(h.peakFile())
	if err == nil {
		n, err = strconv.ParseInt(string(text), 10, 64)
	}
	if err == nil && n == 0 {
		err = errors.New("no memory at all")
	}
	if err = cmp.Or(err, os.Remove(h.peakFile())); err != nil {
		h.t.Fatal(err)
	}
	return n
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		names = append(names, d.Name())
	}
	return names
}
