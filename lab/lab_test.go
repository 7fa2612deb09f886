package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/foliofs/folio/lab/claim"
	"github.com/foliofs/folio/lab/result"
)

// small are sizes at which everything takes a moment.
var small = []string{
	"--lookup.rows", "2000", "--lookup.reads", "200", "--lookup.goroutines", "1,3", "--rowids.rows", "2000", "--rowids.count", "100",
	"--write.inserts", "50", "--write.writers", "3", "--write.records", "5", "--write.tasks", "3",
	"--put.puts", "50", "--put.writers", "3", "--put.records", "10", "--load.rows", "300",
	"--walk.entries", "60", "--walk.visits", "300", "--read.files", "40", "--read.large", "100000", "--read.reads", "50",
	"--import.tree", "generated", "--import.entries", "40",
}

// progressLine matches a line of progress, and those by which a run begins.
var progressLine = regexp.MustCompile(`(?m)^lab: (.*, \d+ of \d+ done: |programs go to ).*\n`)

// lab calls the command in the directory of the laboratory. Its stderr is without the lines of
// progress.
func lab(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(context.Background(), ".", args, &out, &err)
	return code, out.String(), progressLine.ReplaceAllString(err.String(), "")
}

// Every workload is done, and every answer right, by the contenders that are in this repository
// alone: the engine, the file system, the driver, and files.
func TestRun(t *testing.T) {
	dir := isolate(t)
	args := append([]string{"run", "--samples", "2", "--contenders", "engine,folio,foliosql:sql,files", "--dirs", filepath.Join(dir, "stores")}, small...)
	s, stdout := measured(t, filepath.Join(dir, "run.jsonl"), args...)
	if len(s.Failures) > 0 || s.End == nil {
		t.Errorf("failures %+v, end %+v", s.Failures, s.End)
	}
	if s.End.Building <= 0 || s.End.Making <= 0 || s.End.Measuring <= 0 || !strings.Contains(stdout, "building the contenders took ") || !strings.Contains(stdout, " fewer than 10 samples") {
		t.Errorf("end %+v, shown as\n%s", s.End, stdout[max(0, len(stdout)-500):])
	}
	workloads := make(map[string]bool)
	for i := range s.Cases {
		c := &s.Cases[i]
		workloads[c.Workload] = true
		for _, who := range s.In(c.ID) {
			if n := len(s.Of(c.ID, who.ID)); n != 2 {
				t.Errorf("%s, %s: %d samples", c.ID, who.ID, n)
			}
		}
	}
	for _, name := range []string{"walk", "lookup", "rowids", "write", "put", "load", "read", "import"} {
		if !workloads[name] {
			t.Errorf("no case of %s", name)
		}
	}
	checkSamples(t, s)
}

// A directory may have any name: no driver takes a part of it for parameters, and makes its
// database elsewhere.
func TestOddDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no directory has such a name")
	}
	dir := isolate(t)
	base := filepath.Join(dir, "base")
	odd, out := filepath.Join(base, "a b?mode=memory#c%41'd"), filepath.Join(dir, "run.jsonl")
	code, _, stderr := lab(
		t, "run", "write", "lookup", "walk", "--contenders", "mattn,modernc,ncruces,glebarez,gorm,crawshaw,zombiezen,sqlstore", "--dirs", odd, "--samples", "1",
		"--write.shape", "sequential", "--write.inserts", "20", "--lookup.rows", "500", "--lookup.reads", "50", "--lookup.goroutines", "2",
		"--lookup.by", "id", "--lookup.mode", "prepared", "--lookup.transaction", "each", "--walk.tree", "three", "--walk.visits", "60", "--out", out,
	)
	if code != exitOK || strings.Contains(stderr, "failed") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if entries, err := os.ReadDir(base); err != nil || len(entries) != 1 {
		t.Errorf("beside the directory there are %v, %v", entries, err)
	}
}

// Claims are measured by cases of the laboratory, by benchmarks and by commands in them. With
// --resume nothing is measured again.
func TestClaims(t *testing.T) {
	dir := isolate(t)
	out := filepath.Join(dir, "results")
	args := []string{"claims", "--quick", "--samples", "1", "--dirs", filepath.Join(dir, "stores"), "--out", out, "insert-durable-crowd-files", "put-crowd-update", "view", "sync"}
	code, stdout, stderr := lab(t, args...)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	r, err := claim.ReadFile(filepath.Join(out, "claims.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Results) != 5 {
		t.Errorf("%d results, want 5", len(r.Results))
	}
	for _, res := range r.Results {
		if !strings.Contains(stdout, res.Claim) {
			t.Errorf("%s is not shown in\n%s", res.Claim, stdout)
		}
		if _, err := exec.LookPath("rsync"); err != nil && res.Claim == "sync" {
			continue
		}
		if res.Verdict == claim.Unmeasured || res.Figure.Value < 0 {
			t.Errorf("%+v", res)
		}
	}
	if !strings.Contains(stdout, "5 figures are made of fewer than 10 samples") && !strings.Contains(stdout, "4 figures are made of fewer than 10 samples") {
		t.Errorf("nothing tells that one sample is few:\n%s", stdout)
	}
	before := stdout
	if code, stdout, stderr = lab(t, append(args, "--resume")...); code != exitOK || stdout != before {
		t.Errorf("again: exit %d, %s%swant\n%s", code, stdout, stderr, before)
	}
}

// The claims of mounts are measured with all their sides, but for peers that are not installed.
func TestMountClaims(t *testing.T) {
	if _, err := os.Stat("/dev/fuse"); err != nil || os.Geteuid() != 0 {
		t.Skip("mounts need /dev/fuse, and root")
	}
	dir := isolate(t)
	out := filepath.Join(dir, "results")
	code, stdout, stderr := lab(t, "claims", "--quick", "--samples", "1", "--dirs", filepath.Join(dir, "stores"), "--out", out, "mount")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	r, err := claim.ReadFile(filepath.Join(out, "claims.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, res := range r.Results {
		switch {
		case strings.HasPrefix(res.Reason, "nothing can be mounted here"):
			t.Skip(res.Reason)
		case res.Verdict == claim.Unmeasured && !strings.Contains(res.Reason, "executable file not found"):
			t.Errorf("%s: %s", res.Claim, res.Reason)
		}
	}
	if len(r.Results) == 0 || t.Failed() {
		t.Errorf("%s%s", stdout, stderr)
	}
}

// checkSamples looks for figures that cannot be.
func checkSamples(t *testing.T, s *result.Set) {
	t.Helper()
	for i := range s.Samples {
		m := &s.Samples[i]
		if m.Ops <= 0 || m.Seconds <= 0 || m.Checked <= 0 {
			t.Errorf("%s, %s: %d operations, %v s, %d checked", m.Case, m.Contender, m.Ops, m.Seconds, m.Checked)
		}
		if l := m.Latency; l.Timed > 0 && (l.P50 > l.P90 || l.P90 > l.P99 || l.P99 > l.Max || l.Max <= 0) {
			t.Errorf("%s, %s: latencies %+v", m.Case, m.Contender, l)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := lab(t, "list")
	if code != exitOK || !strings.Contains(stdout, "modernc@v1.35.0") || !strings.Contains(stdout, "--lookup.rows") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

// A wrong command line is refused in a line, before anything is built.
func TestMisuse(t *testing.T) {
	t.Parallel()
	text := filepath.Join(t.TempDir(), "text.db")
	if err := os.WriteFile(text, []byte("not a database at all"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(filepath.Dir(text), "claims", "mine"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"claims", "get", "--out", filepath.Dir(text)}, "claims: it does not hold samples, and would be emptied; choose another --out"},
		{[]string{"run", "nope"}, `no workload "nope"; there are walk`},
		{[]string{"run", "lookup", "--lookup.by", "colour"}, "--lookup.by colour: it takes id, path"},
		{[]string{"run", "lookup", "--lookup.rows", "many"}, "--lookup.rows many: it takes a number above 0"},
		{[]string{"run", "walk", "--walk.tree", "relative"}, `--walk.tree "relative": it takes three`},
		{[]string{"run", "--samples", "0"}, "--samples 0: it takes a number above 0"},
		{[]string{"run", "--timeout", "0"}, "--timeout 0s: it takes a duration above 0"},
		{[]string{"run", "--dirs", "/tmp,"}, "--dirs has an empty name in it"},
		{[]string{"run", "--contenders", ""}, "--contenders has an empty name in it"},
		{[]string{"run", "--contenders", "a@"}, `contender "a@": write NAME`},
		{[]string{"run", "--out", "runner"}, "runner: not a file of results; choose another --out"},
		{[]string{"query", "--db", "", "--query", "SELECT 1"}, "--db takes the file of a SQLite database"},
		{[]string{"run", "--out", "go.mod"}, "go.mod exists; --resume continues it"},
		{[]string{"run", "--out", "go.mod", "--resume"}, "go.mod: line 1: not a result file"},
		{[]string{"run", "--out", "nowhere.jsonl", "--resume"}, "nowhere.jsonl: no such file; leave --resume out to start a run"},
		{[]string{"run", "--out", filepath.Join(text, "x.jsonl"), "--dirs", filepath.Dir(text)}, "not a directory; choose another --out"},
		{[]string{"run", "--dirs", text, "--out", filepath.Join(filepath.Dir(text), "x.jsonl")}, "not a directory; choose another directory with --dirs"},
		{[]string{"run", "--dirs", "/proc", "--out", filepath.Join(filepath.Dir(text), "x.jsonl")}, "choose another directory with --dirs"},
		{[]string{"query", "--db", "/nowhere.db", "--query", "SELECT 1"}, "/nowhere.db: no such file or directory; --db takes the file of a SQLite database"},
		{[]string{"query", "--db", text, "--query", "SELECT 1"}, "text.db: not a SQLite database"},
		{[]string{"claims", "nope"}, `no claim "nope"; claims --list names them`},
		{[]string{"claims", "--write", "--quick"}, "--write takes neither names nor --quick"},
		{[]string{"claims", "get", "--write"}, "--write takes neither names nor --quick"},
		{[]string{"claims", "--samples", "0"}, "--samples 0: it takes a number above 0"},
		{[]string{"query"}, `required flag(s) "db", "query" not set`},
	} {
		code, _, stderr := lab(t, tt.args...)
		if code == exitOK || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit %d, %q, want a line with %q", tt.args, code, stderr, tt.want)
		}
	}
}

// A shell reads the command that a run records as the original words.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	got := commandLine([]string{"query", "--query", "SELECT 'a' FROM t", "--samples", "3"})
	want := `go -C lab run . query --query 'SELECT '\''a'\'' FROM t' --samples 3`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for _, args := range [][]string{{"run", "--postgres", "postgres://me:secret@host/db"}, {"run", "--postgres=postgres://me:secret@host/db"}} {
		if got := commandLine(args); strings.Contains(got, "secret") || !strings.Contains(got, "host/db") {
			t.Errorf("%v is written down as %s", args, got)
		}
	}
}
