package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/foliofs/folio/lab/result"
)

// A process under a profiler or strace is no sample. The results have its areas, and every call
// that syncs.
func TestLook(t *testing.T) {
	dir := isolate(t)
	out := filepath.Join(dir, "run.jsonl")
	s, _ := measured(
		t, out, "run", "lookup", "write", "rowids", "--profile", "--trace", "--samples", "1", "--contenders", "engine,files:os", "--dirs", filepath.Join(dir, "stores"),
		"--lookup.rows", "2000", "--lookup.reads", "3000000", "--lookup.goroutines", "2", "--lookup.by", "id", "--lookup.mode", "prepared", "--lookup.transaction", "each",
		"--write.shape", "sequential", "--write.inserts", "60", "--rowids.rows", "2000", "--rowids.count", "100", "--rowids.order", "random",
	)
	if len(s.Failures) > 0 || s.End.Samples != len(s.Samples) || len(s.Samples) != 1+2*3+1 {
		t.Errorf("%d samples, end %+v, failures %+v", len(s.Samples), s.End, s.Failures)
	}
	checkProfiles(t, s, out)
	page := filepath.Join(t.TempDir(), "page")
	if code, _, stderr := lab(t, "report", out, "--out", page); code != exitOK {
		t.Errorf("report: exit %d: %s", code, stderr)
	}
	for _, p := range s.Profiles {
		if _, err := os.Stat(filepath.Join(page, p.File)); err != nil {
			t.Errorf("beside the page: %v", err)
		}
	}
	if _, err := exec.LookPath("strace"); err != nil {
		if len(s.Skips) == 0 || s.Skips[0].Contender != "--trace" {
			t.Errorf("without strace the skipped are %+v", s.Skips)
		}
		t.Skip("strace is not installed")
	}
	checkTraces(t, s)

	// The same again has nothing left to do.
	before, _ := os.ReadFile(out)
	code, _, stderr := lab(t, "run", "write", "--out", out)
	if code == exitOK || !strings.Contains(stderr, "exists") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if after, _ := os.ReadFile(out); len(before) == 0 || len(after) != len(before) {
		t.Errorf("%d bytes of results, then %d", len(before), len(after))
	}
}

func checkProfiles(t *testing.T, s *result.Set, out string) {
	t.Helper()
	cpu := make(map[string]*result.Profile)
	for i := range s.Profiles {
		p := &s.Profiles[i]
		if p.Of == "cpu" {
			cpu[p.Case] = p
		}
		sum := 0.0
		for _, f := range p.Functions {
			sum += f.Part
		}
		if sum <= 0 || sum > 1+1e-9 || p.Total <= 0 || p.Samples <= 0 {
			t.Errorf("%s of %s in %s: functions %v of %v", p.Of, p.Contender, p.Case, p.Functions, p.Total)
		}
		if !filepath.IsLocal(p.File) {
			t.Errorf("a profile is at %s, not beside the results", p.File)
		}
		f, err := os.Open(filepath.Join(filepath.Dir(out), p.File))
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := profile.Parse(f); err != nil {
			t.Errorf("%s: %v", p.File, err)
		}
		_ = f.Close()
	}
	for i := range s.Cases {
		c := &s.Cases[i]
		if c.Workload != "lookup" {
			continue
		}
		p := cpu[c.ID]
		if p == nil {
			t.Fatalf("%s has no profile of the processor", c.ID)
		}
		ofEngine := func(f result.Share) bool { return strings.HasPrefix(f.Name, "github.com/foliofs/folio/") }
		if !slices.ContainsFunc(p.Functions, ofEngine) {
			t.Errorf("the engine looks rows up, in functions %v", p.Functions)
		}
	}
}

// checkTraces checks the syncs of each operation: two for a file that is stored durably (the file
// and its directory), one for the engine (its log), and none without a promise.
func checkTraces(t *testing.T, s *result.Set) {
	t.Helper()
	if len(s.Traces) != len(s.Samples) {
		t.Errorf("%d traces of %d cells", len(s.Traces), len(s.Samples))
	}
	for i := range s.Traces {
		tr := &s.Traces[i]
		c := s.Case(tr.Case)
		if _, ok := tr.Calls["fsync"]; !ok || tr.Ops <= 0 {
			t.Errorf("%s in %s: %d operations, calls %v", tr.Contender, tr.Case, tr.Ops, tr.Calls)
		}
		if c.Workload != "write" {
			continue
		}
		switch {
		case c.Group == result.GroupDurable && tr.Contender == "files:os" && tr.Syncs() != 2*tr.Ops,
			c.Group == result.GroupDurable && tr.Contender == "engine" && tr.Syncs() != tr.Ops,
			c.Group == result.GroupNone && tr.Syncs() != 0:
			t.Errorf("%s in %s: %d syncs for %d operations: %v", tr.Contender, tr.Case, tr.Syncs(), tr.Ops, tr.Calls)
		}
	}
}
