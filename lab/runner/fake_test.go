package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/lab/workload"
)

// TestMain makes this test binary a contender as well: called as "fake NAME" it speaks the
// protocol, and misbehaves as the name says.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "fake" {
		fake{name: os.Args[2], in: bufio.NewReader(os.Stdin)}.serve()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A fake is a contender that does no work and knows every answer.
type fake struct {
	name string
	in   *bufio.Reader
}

func (f fake) say(r workload.Reply) {
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		os.Exit(3)
	}
}

func (f fake) next() (r workload.Request) {
	line, err := f.in.ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &r) != nil {
		os.Exit(0) // the runner has had enough
	}
	return r
}

func (f fake) serve() {
	if f.name == "deaf" {
		<-time.After(time.Hour)
	}
	switch r := f.next(); {
	case r.Describe != nil:
		f.say(workload.Reply{About: f.about()})
	case r.Make != nil:
		if err := os.WriteFile(r.Make.Path, make([]byte, 4096), 0o666); err != nil {
			os.Exit(3)
		}
		f.say(workload.Reply{Done: &workload.Done{}})
	case r.Job != nil:
		f.do(r.Job)
	}
}

func (f fake) about() *workload.About {
	a := workload.AboutAPI{
		Name: "fake", Kind: "sql", SQLite: "3.0.0", CompileOptions: []string{"THREADSAFE=0"}, Makes: true,
		Workloads: []string{"lookup", "write"}, Groups: []workload.Group{workload.ReadOnly, workload.Consistent},
	}
	switch f.name {
	case "secretive":
		a.CompileOptions = nil
	case "broken":
		a.Error = "no C compiler"
	}
	return &workload.About{Name: f.name, Module: "example.org/fake", APIs: []workload.AboutAPI{a}}
}

// do does a job without doing it.
func (f fake) do(j *workload.Job) {
	w, err := workload.Find(j.Workload)
	if err != nil {
		os.Exit(3)
	}
	f.prelude(j)
	f.say(workload.Reply{Ready: f.ready(w, j)})
	f.next()
	if f.name == "crasher" {
		fmt.Fprintln(os.Stderr, "panic: oops")
		os.Exit(2)
	}
	d := f.done(w, j)
	f.say(workload.Reply{Done: d})
	_, _ = f.in.ReadByte()
}

// prelude runs before the fake's first reply.
func (f fake) prelude(j *workload.Job) {
	switch f.name {
	case "sleeper":
		f.next() // there is nothing more to come
	case "babbler":
		fmt.Println("SQLite version 3, enter .help for usage hints")
	case "flooder":
		fmt.Print(strings.Repeat("x", maxReply+1))
	case "liar":
		f.say(workload.Reply{Error: &workload.Error{Wrong: true, Message: "row 1 has path a, not b"}})
		os.Exit(1)
	case "modechanger":
		_ = os.WriteFile(j.DB, append([]byte("changed"), make([]byte, 4089)...), 0o666)
	case "litterer":
		_ = os.WriteFile(j.DB+"-wal", nil, 0o666)
	case "hoarder":
		entries, err := os.ReadDir(j.Dir)
		if err != nil || len(entries) > 0 {
			f.say(workload.Reply{Error: &workload.Error{Message: "the directory is not new"}})
			os.Exit(1)
		}
		_ = os.WriteFile(j.Dir+"/left", nil, 0o666)
	}
}

func (f fake) ready(w *workload.Workload, j *workload.Job) *workload.Ready {
	settings := map[string]string{"page_size": "4096", "cache_size": "-2000", "mmap_size": "0", "journal_mode": "delete", "synchronous": "2"}
	maps.Copy(settings, w.Settings(j, "sql"))
	r := &workload.Ready{Group: j.Group, Settings: []map[string]string{settings, settings}}
	if w.Warm != nil {
		r.WarmUp = workload.WarmUp{Ops: w.Warm(j), Seconds: 0.1}
	}
	other := maps.Clone(settings)
	other["synchronous"] = "0"
	switch f.name {
	case "promiser":
		r.Group = workload.None
	case "uneven":
		r.Settings[1] = other
	case "unsafe":
		r.Settings = []map[string]string{other}
	case "cold":
		r.WarmUp.Ops = 0
	case "mute":
		delete(settings, "mmap_size")
	}
	return r
}

func (f fake) done(w *workload.Workload, j *workload.Job) *workload.Done {
	answer, err := w.Want(j)
	if err != nil {
		os.Exit(3)
	}
	d := &workload.Done{Ops: w.Ops(j), Seconds: 0.001, Answer: answer, Timed: 1, Curve: []workload.Quantile{{At: 0.5, Time: time.Microsecond}, {At: 1, Time: time.Millisecond}}}
	if j.Values["mode"] == "raw" {
		d.Prepares = d.Ops
	}
	switch f.name {
	case "forger":
		d.Answer.Digest++
	case "shirker":
		d.Ops--
	case "cacher":
		d.Prepares = 2
	case "preparer":
		d.Prepares = d.Ops
	case "stubborn":
		d.Busy = 7
	}
	return d
}

// silent is an observer that keeps nothing.
type silent struct{}

func (silent) Progress(string, string, int, int) {}
func (silent) Note(string)                       {}
func (silent) Ended()                            {}

// fakes makes options for a run of fake contenders.
func fakes(t *testing.T, names ...string) *Options {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	o := &Options{
		Values: make(map[string]workload.Values), Dirs: []string{dir}, Out: dir + "/run.jsonl", Rounds: 2, Seed: 1,
		Timeout: 30 * time.Second, Command: "go -C lab run . run", Observer: silent{},
		build: func(_ context.Context, s Spec) (program, error) { return program{exe, []string{"fake", s.Name}}, nil },
	}
	o.add(t, "lookup", workload.Values{"rows": "50", "reads": "20", "goroutines": "2", "by": "id", "mode": "prepared", "transaction": "each", "mmap": "0"})
	for _, name := range names {
		o.Contenders = append(o.Contenders, Spec{Name: name})
	}
	return o
}

// add adds a workload.
func (o *Options) add(t *testing.T, name string, values workload.Values) {
	t.Helper()
	w, err := workload.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	o.Workloads = append(o.Workloads, w)
	o.Values[name] = values
}
