package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/lab/report"
	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// unpack makes a result file of a packed one; testdata/README.md says how they were made.
func unpack(t *testing.T, base string) string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", base+".jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, base+".jsonl", string(data))
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// The report has a table of every case with the command for it, and the samples are those of
// benchstat.
func TestReport(t *testing.T) {
	t.Parallel()
	file := unpack(t, "first")
	s, err := result.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := lab(t, "report", file)
	if code != exitOK || stderr != "" || !strings.Contains(stdout, " ± ") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	for i := range s.Cases {
		for _, want := range []string{s.Cases[i].Question, s.Cases[i].ID + " (", report.Command(s, &s.Cases[i])} {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: no %q in %s", s.Cases[i].ID, want, stdout)
			}
		}
	}
	code, stdout, stderr = lab(t, "report", file, "--samples")
	if n := strings.Count(stdout, "\nBenchmark"); code != exitOK || stderr != "" || n != len(s.Samples) {
		t.Errorf("exit %d, %d samples of %d: %s", code, n, len(s.Samples), stderr)
	}
}

// Without a name the results that were written last are shown.
func TestNewest(t *testing.T) {
	first := unpack(t, "first")
	t.Chdir(t.TempDir())
	code, _, stderr := lab(t, "report")
	if code != exitFailure || !strings.Contains(stderr, "there are no results yet") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	data, err := os.ReadFile(first)
	if err == nil {
		err = os.Mkdir(resultsDir, 0o777)
	}
	now := time.Now()
	for name, age := range map[string]time.Duration{"a": time.Hour, "b": time.Minute, "c": 2 * time.Hour} {
		path := filepath.Join(resultsDir, name+".jsonl")
		err = errors.Join(err, os.WriteFile(path, data, 0o666), os.Chtimes(path, now, now.Add(-age)))
	}
	if err != nil {
		t.Fatal(err)
	}
	want := " failures in " + filepath.Join(resultsDir, "b.jsonl") + "\n"
	if code, stdout, stderr := lab(t, "report"); code != exitOK || !strings.Contains(stdout, want) {
		t.Errorf("exit %d: %s%s, want %s", code, stdout, stderr, want)
	}
}

// The command next to a figure measures its case, and no other.
func TestFigureCommands(t *testing.T) {
	t.Parallel()
	s, err := result.ReadFile(unpack(t, "first"))
	if err != nil {
		t.Fatal(err)
	}
	flags := (&command{}).runCommand().Flags()
	for i := range s.Cases {
		c := &s.Cases[i]
		words := strings.Fields(report.Command(s, c))
		values := make(workload.Values)
		for k, word := range words {
			name, ok := strings.CutPrefix(word, "--")
			if !ok {
				continue
			}
			if flags.Lookup(name) == nil {
				t.Errorf("%s: there is no flag %s", c.ID, word)
			}
			if of, short, ok := strings.Cut(name, "."); ok && of == c.Workload {
				values[short] = words[k+1]
			}
		}
		w, err := workload.Find(c.Workload)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := w.Cases(values)
		if err != nil || len(cases) != 1 || cases[0].ID != c.ID {
			t.Errorf("%s: %q makes %d cases: %v", c.ID, strings.Join(words, " "), len(cases), err)
		}
	}
}

// slower is a result file in which a contender took twice as long, and was built from another
// source.
func slower(t *testing.T, file, who string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(data)) {
		var r result.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Run != nil {
			r.Run.Machine.Revision = "another"
		}
		if r.Sample != nil && r.Sample.Contender == who {
			r.Sample.Seconds *= 2
		}
		if err := json.NewEncoder(&out).Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	return write(t, "slower.jsonl", out.String())
}

// The exit code tells whether something is worse.
func TestCompare(t *testing.T) {
	t.Parallel()
	first, second := unpack(t, "first"), unpack(t, "second")
	code, stdout, stderr := lab(t, "compare", first, second)
	if code != exitOK || !strings.Contains(stdout, "43 rows: 43 no difference, 0 better, 0 worse") || stderr != "" {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	slow := slower(t, first, "engine")
	code, stdout, stderr = lab(t, "compare", first, slow)
	if code != exitWorse || !strings.Contains(stdout, "-50%, worse") || strings.Contains(stdout, "better\n") || stderr != "" {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	if code, stdout, _ = lab(t, "compare", slow, first); code != exitOK || !strings.Contains(stdout, "+100%, better") {
		t.Errorf("exit %d: %s", code, stdout)
	}
}

// Files that cannot be shown or compared are refused in a line.
func TestReportMisuse(t *testing.T) {
	t.Parallel()
	first, garbage := unpack(t, "first"), write(t, "x.jsonl", "garbage\n")
	empty := write(t, "run.jsonl", `{"run":{"format":1,"id":"a"}}`+"\n")
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"report", "nowhere.jsonl"}, exitFailure, "nowhere.jsonl: no such file or directory; go -C lab run . run makes some, in results"},
		{[]string{"report", t.TempDir()}, exitFailure, ": there are no results yet; go -C lab run . run makes some, or name a file of results"},
		{[]string{"report", write(t, "y.jsonl", `{"run":{"format":99,"machine":{"revision":"abc"}}}`+"\n")}, exitFailure, "result format 99, this laboratory reads 1; read it with the one that wrote it, of source abc, or measure again"},
		{[]string{"report", garbage}, exitFailure, "not a result file"},
		{[]string{"report", first, first}, exitUsage, "accepts at most 1 arg(s), received 2"},
		{[]string{"compare", first}, exitUsage, "accepts 2 arg(s), received 1"},
		{[]string{"compare", first, garbage}, exitFailure, "not a result file"},
		{[]string{"compare", first, empty}, exitFailure, "no case and contender in common"},
		{[]string{"compare", first, first, "--figure", "colour"}, exitUsage, `--figure: no figure "colour"; there are rate`},
		{[]string{"compare", first, first, "--min", "-1"}, exitUsage, "--min -1: it takes a share from 0"},
	} {
		code, _, stderr := lab(t, tt.args...)
		if code != tt.code || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit %d, %q, want %d and a line with %q", tt.args, code, stderr, tt.code, tt.want)
		}
	}
}
