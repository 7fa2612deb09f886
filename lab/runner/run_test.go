package runner

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// A stopper cancels a run before sample number at.
type stopper struct {
	silent
	at     int
	cancel context.CancelFunc
}

func (s *stopper) Progress(step, _ string, done, _ int) {
	if step == Measuring && done == s.at {
		s.cancel()
	}
}

// A run that is interrupted at any point keeps its finished samples, and the same run continues
// from there.
func TestResume(t *testing.T) {
	t.Parallel()
	o := fakes(t, "good", "better")
	const all = 4 // samples: two contenders, two rounds
	for at := range all {
		ctx, cancel := context.WithCancel(context.Background())
		o.Observer = &stopper{at: at, cancel: cancel}
		if err := Run(ctx, o); !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted: %v", err)
		}
		cancel()
		s, err := result.ReadFile(o.Out)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Samples) != at || s.End == nil || !s.End.Interrupted {
			t.Fatalf("interrupted at %d, %d samples are kept, end %+v", at, len(s.Samples), s.End)
		}
	}
	o.Observer = silent{}
	s := measureFakes(t, o)
	if len(s.Samples) != all || s.End.Interrupted || s.End.Samples != all {
		t.Errorf("%d samples at the end, %+v", len(s.Samples), s.End)
	}
	before, err := os.ReadFile(o.Out)
	if err != nil {
		t.Fatal(err)
	}
	if s = measureFakes(t, o); len(s.Samples) != all {
		t.Errorf("a run that was complete has %d samples after another", len(s.Samples))
	}
	if after, _ := os.ReadFile(o.Out); !bytes.HasPrefix(after, before) {
		t.Error("what was there has changed")
	}
}

// An interruption while contenders are built leaves a run that can be gone on with; anything else
// that goes wrong there leaves nothing.
func TestResumeBuild(t *testing.T) {
	t.Parallel()
	o := fakes(t, "good")
	build := o.build
	ctx, cancel := context.WithCancel(context.Background())
	o.build = func(ctx context.Context, _ Spec) (program, error) {
		cancel()
		return program{}, ctx.Err()
	}
	if err := Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	s, err := result.ReadFile(o.Out)
	if err != nil || s.End == nil || !s.End.Interrupted || len(s.Samples) > 0 {
		t.Fatalf("after an interruption in a build: %+v, %v", s, err)
	}
	out := o.Out
	o.Out, o.Resume, o.build = "", filepath.Dir(out), build
	if s = measureFakes(t, o); o.Out != out || len(s.Samples) != o.Rounds || s.End.Interrupted {
		t.Errorf("resumed in %s: %d samples, end %+v", o.Out, len(s.Samples), s.End)
	}

	o = fakes(t, "good")
	o.build = func(context.Context, Spec) (program, error) { return program{}, errors.New("it does not compile") }
	if err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), "no contender can take part") {
		t.Errorf("nobody was built: %v", err)
	}
	if _, err := os.Stat(o.Out); err == nil {
		t.Error("a run in which nothing was begun has left results")
	}
}

// Of several interrupted runs, --resume continues the one of the same plan. If there is none, the
// error names another.
func TestResumeWhich(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stop := func(name, reads string) *Options {
		o := fakes(t, "good")
		o.Dirs, o.Out, o.Command = []string{dir}, filepath.Join(dir, name), "go -C lab run . run --lookup.reads "+reads
		o.Values["lookup"]["reads"] = reads
		ctx, cancel := context.WithCancel(context.Background())
		o.Observer = &stopper{at: 1, cancel: cancel}
		if err := Run(ctx, o); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		o.Observer, o.Out, o.Resume = silent{}, "", dir
		return o
	}
	first := stop("1.jsonl", "20")
	stop("2.jsonl", "30")
	if err := os.WriteFile(filepath.Join(dir, "3.jsonl"), []byte("garbage\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if s := measureFakes(t, first); first.Out != filepath.Join(dir, "1.jsonl") || len(s.Samples) != first.Rounds {
		t.Errorf("gone on with %s, %d samples", first.Out, len(s.Samples))
	}
	first.Out = ""
	want := "no run of this command in " + dir + " was interrupted; leave --resume out to start one; " + filepath.Join(dir, "2.jsonl") + " was, by go -C lab run . run --lookup.reads 30, to which --resume can be added"
	if err := Run(context.Background(), first); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// Two runs do not write into one file.
func TestResumeBusy(t *testing.T) {
	t.Parallel()
	o := fakes(t, "good")
	measureFakes(t, o)
	w, err := result.Resume(o.Out)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := Run(context.Background(), o); runtime.GOOS != "windows" && !errors.Is(err, result.ErrBusy) {
		t.Errorf("a run whose file another writes to: %v", err)
	}
}

// A watcher notes the skipped contenders.
type watcher struct {
	silent
	skipped []string
}

func (w *watcher) Note(line string) {
	if what, ok := strings.CutPrefix(line, "skipped "); ok {
		w.skipped = append(w.skipped, what)
	}
}

// A contender that was named and takes no part is reported with the reason. If no contender takes
// part, there is nothing to run.
func TestBystanders(t *testing.T) {
	t.Parallel()
	o, w := fakes(t, "good"), &watcher{}
	o.add(t, "walk", workload.Values{"tree": "three", "entries": "1", "size": "1", "visits": "10"})
	o.add(t, "write", workload.Values{
		"shape": "sequential", "durability": "log-consistent,durable", "inserts": "10", "writers": "1", "records": "1", "tasks": "1",
	})
	o.Observer = w
	measureFakes(t, o)
	if len(w.skipped) > 0 {
		t.Errorf("nobody was named, and %q", w.skipped)
	}
	o.Named, o.Out = true, o.Out+"-named"
	measureFakes(t, o)
	want := []string{"good in walk: it has no tree of files", "good in write: it cannot promise durable"}
	if !slices.Equal(w.skipped, want) {
		t.Errorf("skipped %q, want %q", w.skipped, want)
	}
	o = fakes(t, "good")
	o.Workloads = nil
	o.add(t, "walk", workload.Values{"tree": "three", "entries": "1", "size": "1", "visits": "10"})
	if err := Run(context.Background(), o); err == nil || err.Error() != "no contender takes part in anything (good in walk: it has no tree of files); name other --contenders, or none" {
		t.Errorf("nobody takes part: %v", err)
	}
}

// An error of the runner itself ends the run, and is no failure of a contender.
func TestOwnError(t *testing.T) {
	t.Parallel()
	o := fakes(t, "good")
	o.Observer = &remover{dir: filepath.Join(o.Dirs[0], storesDir)}
	if err := Run(context.Background(), o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run without its directory: %v", err)
	}
	s, err := result.ReadFile(o.Out)
	if err != nil || len(s.Failures) > 0 || s.End != nil {
		t.Errorf("failures %+v, end %+v, %v", s.Failures, s.End, err)
	}
}

// A remover takes the directory of all stores away when the second sample is next.
type remover struct {
	silent
	dir string
}

func (r *remover) Progress(step, _ string, done, _ int) {
	if step == Measuring && done == 1 {
		_ = os.RemoveAll(r.dir)
	}
}

// Results of another plan are not gone on with.
func TestResumeOther(t *testing.T) {
	t.Parallel()
	o := fakes(t, "good")
	measureFakes(t, o)
	o.Values["lookup"]["reads"] = "30"
	if err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), "results of another run") {
		t.Errorf("a run with other values: %v", err)
	}
}

func TestParseSpec(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Spec{
		"mattn":               {Name: "mattn", Version: "", API: ""},
		"modernc@v1.35.0":     {Name: "modernc", Version: "v1.35.0", API: ""},
		"mattn:sql":           {Name: "mattn", Version: "", API: "sql"},
		"modernc@v1.35.0:sql": {Name: "modernc", Version: "v1.35.0", API: "sql"},
		"":                    {},
		"@v1":                 {},
		"mattn@":              {},
		"../../etc":           {},
		"modernc@../x":        {},
	} {
		list, err := ParseSpecs([]string{text})
		var got Spec
		if err == nil {
			got = list[0]
		}
		if got != want || (err == nil) != (want != Spec{}) {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
		if err == nil && got.String() != text {
			t.Errorf("%q is written %q", text, got)
		}
	}
}
