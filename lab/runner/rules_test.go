package runner

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// measureFakes runs fakes and reads the results.
func measureFakes(t *testing.T, o *Options) *result.Set {
	t.Helper()
	if err := Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	s, err := result.ReadFile(o.Out)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A contender that breaks a rule, or does not work at all, is named, and the other contenders have
// all their samples.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule, name string
		values     workload.Values // in addition to those of fakes
		kind       result.FailureKind
		want       string
	}{
		{"1", "promiser", nil, result.FailureSettings, `the store promises "none", the case "read"`},
		{"2, one connection differs", "uneven", nil, result.FailureSettings, `connection 2 differs from the first: synchronous is "2" and "0"`},
		{"3, settings", "mute", nil, result.FailureSettings, "it does not tell its mmap_size"},
		{"4, the shared file", "modechanger", nil, result.FailureSettings, "it has changed the database that all contenders read"},
		{"4, beside it", "litterer", nil, result.FailureSettings, "next to the database that all contenders read"},
		{"5, raw", "cacher", workload.Values{"mode": "raw"}, result.FailureSettings, "raw prepared 2 statements for 20 operations"},
		{"5, prepared", "preparer", workload.Values{"reads": "100", "goroutines": "1"}, result.FailureSettings, "prepared statements were prepared 100 times"},
		{"6, dropped work", "shirker", nil, result.FailureWrong, "19 operations were done, not 20"},
		{"7, the runner knows", "forger", nil, result.FailureWrong, "the answer is 20 items"},
		{"7, the contender knows", "liar", nil, result.FailureWrong, "row 1 has path a, not b"},
		{"8", "cold", nil, result.FailureSettings, "warmed up with 0 operations, want 2"},
		{"crash", "crasher", nil, result.FailureCrash, "exit status 2"},
		{"garbage", "babbler", nil, result.FailureGarbage, `it said "SQLite version 3,`},
		{"endless garbage", "flooder", nil, result.FailureGarbage, "a line of more than"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			o := fakes(t, tt.name, "good")
			maps.Copy(o.Values["lookup"], tt.values)
			s := measureFakes(t, o)
			if len(s.Failures) != 1 {
				t.Fatalf("failures %+v, want one", s.Failures)
			}
			if f := s.Failures[0]; f.Contender != tt.name || f.Kind != tt.kind || !strings.Contains(f.Error, tt.want) {
				t.Errorf("failure %+v, want %s with %q", f, tt.kind, tt.want)
			}
			if n := len(s.Of(s.Cases[0].ID, "good")); n != o.Rounds {
				t.Errorf("the good one has %d samples, want %d", n, o.Rounds)
			}
		})
	}
}

// Rule 1: a contender has no case of a group that it cannot promise. Rule 2: the settings of the
// group are in force.
func TestGroups(t *testing.T) {
	t.Parallel()
	o := fakes(t, "good", "unsafe")
	o.Workloads = nil
	o.add(t, "write", workload.Values{
		"shape": "sequential", "durability": "log-consistent,durable", "inserts": "10", "writers": "1", "records": "1", "tasks": "1",
	})
	s := measureFakes(t, o)
	if len(s.Failures) != 1 || s.Failures[0].Contender != "unsafe" || !strings.Contains(s.Failures[0].Error, `synchronous is "0", must be "1"`) {
		t.Errorf("failures %+v, want that of unsafe", s.Failures)
	}
	for _, c := range s.Cases {
		if n := len(s.Of(c.ID, "good")); (c.Group == workload.Consistent) != (n > 0) {
			t.Errorf("%s: %d samples of a contender that promises log-consistent", c.ID, n)
		}
	}
	if len(s.Skips) != 2 || s.Skips[0].Reason != "it cannot promise durable" {
		t.Errorf("skips %+v", s.Skips)
	}
}

// Rule 3: a contender that does not describe itself takes no part. Neither does one that cannot
// work.
func TestSkipped(t *testing.T) {
	t.Parallel()
	s := measureFakes(t, fakes(t, "secretive", "broken", "good"))
	if len(s.Skips) != 2 || !strings.Contains(s.Skips[0].Reason, "compile options") || s.Skips[1].Reason != "no C compiler" {
		t.Errorf("skips %+v", s.Skips)
	}
	if len(s.Contenders) != 1 {
		t.Errorf("contenders %+v, want the good one", s.Contenders)
	}
}

// Rule 4: every sample has a new directory, and nothing of it is left.
func TestFreshDirectory(t *testing.T) {
	t.Parallel()
	o := fakes(t, "hoarder")
	s := measureFakes(t, o)
	if len(s.Samples) != o.Rounds || len(s.Failures) > 0 {
		t.Errorf("%d samples, failures %+v", len(s.Samples), s.Failures)
	}
	left, err := filepath.Glob(filepath.Join(o.Dirs[0], storesDir, scratchPrefix+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("stores are left: %v, %v", left, err)
	}
}

// Rule 6: refusals of a busy store are shown. Rule 8: so is warming up.
func TestRecorded(t *testing.T) {
	t.Parallel()
	s := measureFakes(t, fakes(t, "stubborn"))
	for _, m := range s.Samples {
		if m.Busy != 7 || m.WarmUp.Ops != 2 || m.WarmUp.Seconds != 0.1 || m.Latency.P50 != time.Microsecond || m.Connections != 2 {
			t.Errorf("sample %+v", m)
		}
	}
}

// Rule 9: unless the user wants it otherwise, both kinds of transactions are cases, and have all
// contenders.
func TestBothTransactions(t *testing.T) {
	t.Parallel()
	o := fakes(t, "good", "better")
	w := o.Workloads[0]
	for _, f := range w.Flags {
		if f.Name == "transaction" || f.Name == "by" || f.Name == "mode" {
			o.Values["lookup"][f.Name] = f.Default
		}
	}
	s := measureFakes(t, o)
	for i := range s.Cases {
		c := &s.Cases[i]
		other := map[string]string{"each": "one", "one": "each"}[c.Param("transaction")]
		twin := strings.Replace(c.ID, "transaction="+c.Param("transaction"), "transaction="+other, 1)
		if s.Case(twin) == nil || len(s.In(c.ID)) != 2 {
			t.Errorf("%s has no twin, or %d contenders", c.ID, len(s.In(c.ID)))
		}
	}
	if len(s.Cases) != 8 {
		t.Errorf("%d cases, want 8", len(s.Cases))
	}
}

// Rule 10: without the command that makes it there is no figure.
func TestCommand(t *testing.T) {
	t.Parallel()
	o := fakes(t, "good")
	o.Command = ""
	if err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), "no figure without the command") {
		t.Errorf("a run without a command: %v", err)
	}
	if _, err := os.Stat(o.Out); err == nil {
		t.Error("it has left results")
	}
}

// A contender that does not read its input is a failure too, even after long requests.
func TestDeaf(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := start(t.Context(), time.Second, program{exe, []string{"fake", "deaf"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.ask(workload.Request{Probe: &workload.Probe{SQL: strings.Repeat("x", 1<<20)}})
	if err = p.end(err); kindOf(err) != result.FailureHang {
		t.Errorf("%v, want a hang", err)
	}
}

// A contender that hangs is ended when its time is over.
func TestHang(t *testing.T) {
	t.Parallel()
	o := fakes(t, "sleeper", "good")
	o.Timeout = 3 * time.Second
	s := measureFakes(t, o)
	if len(s.Failures) != 1 || s.Failures[0].Kind != result.FailureHang || s.Failures[0].Contender != "sleeper" {
		t.Errorf("failures %+v, want a hang", s.Failures)
	}
	if len(s.Samples) != 2 {
		t.Errorf("%d samples of the other, want 2", len(s.Samples))
	}
}
