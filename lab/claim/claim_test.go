package claim

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

var update = flag.Bool("update", false, "judge the figures of docs/claims.json by the current goals, and write them into the documents")

const project = "../.."

// ask is a goal.
func ask(figure float64) *float64 { return &figure }

// Every name stands for one thing, and every claim asks for samples that its source takes.
func TestRows(t *testing.T) {
	t.Parallel()
	claims, rows, kinds := make(map[string]bool), make(map[string]bool), []Kind{Faster, Growth, Median, Worst}
	for _, row := range Rows {
		if rows[row.Name] || len(row.Claims) == 0 {
			t.Errorf("row %s is there twice, or empty", row.Name)
		}
		rows[row.Name] = true
		for _, c := range row.Claims {
			if claims[c.Name] {
				t.Errorf("claim %s is there twice", c.Name)
			}
			claims[c.Name] = true
			if !slices.Contains(kinds, c.Kind) || (c.Kind == Faster || c.Kind == Growth) == (len(c.Peers) == 0) || (c.Kind == Faster) == (c.Label != "") {
				t.Errorf("claim %s: its kind, peers and label do not go together", c.Name)
			}
			for _, who := range append([]string{c.Ours}, c.Peers...) {
				if !taken(t, c.From, c.name(who)) {
					t.Errorf("claim %s: %s takes no sample %s", c.Name, c.From.ID(), c.name(who))
				}
			}
		}
	}
	for name := range rows {
		if claims[name] && len(find(t, name)) != 1 {
			t.Errorf("%s is a claim, and a row of others", name)
		}
	}
}

func find(t *testing.T, name string) []*Claim {
	t.Helper()
	list, err := Find([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// taken reports whether a source takes samples of a name, as far as that can be told without taking
// them.
func taken(t *testing.T, s Source, name string) bool {
	t.Helper()
	switch s := s.(type) {
	case *Lab:
		w, err := workload.Find(s.Workload)
		if err != nil {
			t.Fatal(err)
		}
		for _, quick := range []bool{false, true} {
			values, err := s.values(w, quick)
			if err != nil {
				t.Fatal(err)
			}
			cases, err := w.Cases(values)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(cases, func(c workload.Case) bool { return takes(s, c.ID, name) }) {
				return false
			}
		}
		return true
	case *Bench:
		bench, _, _ := strings.Cut(name, "/")
		return regexp.MustCompile(strings.Split(s.Pattern, "/")[0]).MatchString("Benchmark" + bench)
	}
	return false
}

// takes reports whether a name names a contender in a case.
func takes(l *Lab, id, name string) bool {
	who, ok := strings.CutPrefix(name, id+"/")
	who, system, elsewhere := strings.Cut(who, "@")
	program, _, _ := strings.Cut(who, ":")
	return ok && (!elsewhere || l.Everywhere && system != "") && slices.ContainsFunc(strings.Split(l.Contenders, ","), func(c string) bool { return c == who || c == program })
}

// The documents show the committed figures, and cite claims that exist.
func TestDocuments(t *testing.T) {
	t.Parallel()
	r, err := ReadFile(Committed(project))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		r.renew()
		if err := errors.Join(r.WriteFile(Committed(project)), r.write(project)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range Places() {
		text := document(t, p.Doc)
		if now, err := r.edit(text, p); err != nil || now != text {
			t.Errorf("%s does not show what docs/claims.json has of %s (%v); go -C lab test ./claim -update writes it anew", p.Doc, p.Part, err)
		}
	}
	for i := range Charts {
		for _, theme := range themes {
			name := Charts[i].file(theme)
			if document(t, name) != string(r.chart(&Charts[i], Charts[i].bars(), theme)) {
				t.Errorf("%s does not show what docs/claims.json has; go -C lab test ./claim -update draws it anew", name)
			}
		}
	}
	docs, err := filepath.Glob(filepath.Join(project, "docs", "*", "*.md"))
	if err != nil || len(docs) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, doc := range append(docs, filepath.Join(project, "README.md")) {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range cites.FindAllSubmatch(text, -1) {
			if _, err := Find([]string{string(m[1])}); err != nil {
				t.Errorf("%s: %v", doc, err)
			}
		}
	}
}

// cites finds the claims that a text refers to.
var cites = regexp.MustCompile("[Cc]laims? `([a-z0-9-]+)`")

func document(t *testing.T, doc string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(project, doc))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every result of the committed figures belongs to a claim, and its verdict is by the claim's
// current goal.
func TestCommitted(t *testing.T) {
	t.Parallel()
	r, err := ReadFile(Committed(project))
	if err != nil {
		t.Fatal(err)
	}
	if r.Quick || r.Command == "" || r.Machine.Cores == 0 {
		t.Errorf("a quick run, or nobody knows how it was made: %+v", r.Header)
	}
	for _, res := range r.Results {
		c := find(t, res.Claim)[0]
		if res.Figure == nil {
			continue
		}
		if !reflect.DeepEqual(res.Asked, c.Asked) || c.Asked != nil && (res.Verdict == Holds) != c.meets(res.Figure.Value) {
			t.Errorf("claim %s: asked %v, now %v; %s at %v", c.Name, res.Asked, c.Asked, res.Verdict, res.Figure.Value)
		}
	}
}

func TestFigure(t *testing.T) {
	t.Parallel()
	fast, slow := []float64{20, 30, 10}, []float64{300, 400, 500}
	for _, tt := range []struct {
		kind  Kind
		ours  []float64
		peers [][]float64
		want  float64
	}{
		{Faster, []float64{5, 1, 4}, [][]float64{slow, fast}, 5},
		{Faster, []float64{4}, [][]float64{{2}}, 0.5},
		{Growth, []float64{30, 10, 11}, [][]float64{{10}}, 1.1},
		{Median, []float64{1, 2, 3, 40}, nil, 2.5},
		{Worst, []float64{7, 9, 8}, nil, 9},
	} {
		f := tt.kind.figure(tt.ours, tt.peers)
		if f.Value != tt.want || f.Low > f.Value || f.High < f.Value {
			t.Errorf("%v of %v and %v: %+v, want %v", tt.kind, tt.ours, tt.peers, f, tt.want)
		}
		if len(tt.ours) == 1 && f.Low != f.High {
			t.Errorf("one sample has the interval %+v", f)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	samples := make(Samples)
	for name, v := range map[string]float64{"x/ours": 10, "x/slow": 100, "x/fast": 50} {
		samples.add(name, perOp, v)
	}
	out := &outcome{samples, func(name string) string { return "none of " + name }}
	both := []string{"slow", "fast"}
	for _, tt := range []struct {
		claim        Claim
		verdict      Verdict
		peer, reason string
	}{
		{Claim{Peers: both, Asked: ask(5)}, Holds, "fast", ""},
		{Claim{Peers: both, Asked: ask(5.1)}, Short, "fast", ""},
		{Claim{Peers: both}, NoGoal, "fast", ""},
		{Claim{Peers: []string{"slow", "gone"}, Asked: ask(1)}, Unmeasured, "", "none of x/gone"},
		{Claim{Kind: Median, Asked: ask(10)}, Holds, "", ""},
		{Claim{Kind: Median, Asked: ask(9)}, Short, "", ""},
		{Claim{Kind: Median, Unit: "busy"}, Unmeasured, "", "none of x/ours"},
	} {
		tt.claim.Case, tt.claim.Ours = "x/*", "ours"
		if r := tt.claim.judge(out); r.Verdict != tt.verdict || r.Peer != tt.peer || r.Reason != tt.reason {
			t.Errorf("%+v: %+v, want %s by %q, %q", tt.claim, r, tt.verdict, tt.peer, tt.reason)
		}
	}
}

// Samples of the laboratory have the name of their case and contender, and a reason where there are
// none.
func TestFromSet(t *testing.T) {
	t.Parallel()
	set, err := result.Read(strings.NewReader(`{"run":{"format":1,"id":"a","dirs":[{"path":"/a","file_system":"ext4"},{"path":"/b","file_system":"btrfs"}]}}
{"contender":{"id":"files:os"}}
{"contender":{"id":"mattn"}}
{"case":{"id":"write/shape=tasks/dir=ext4","dir":"/a"}}
{"case":{"id":"write/shape=tasks/dir=btrfs","dir":"/b"}}
{"skip":{"contender":"crawshaw","reason":"no C compiler"}}
{"sample":{"case":"write/shape=tasks/dir=ext4","contender":"files:os","ops":10,"seconds":0.5,"log":1048576,"busy":3,"use":{"allocs":19}}}
{"sample":{"case":"write/shape=tasks/dir=btrfs","contender":"files:os","ops":10,"seconds":1,"use":{}}}
{"failure":{"case":"write/shape=tasks/dir=ext4","contender":"mattn","error":"it ended"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	got := make(Samples)
	got.fromSet(set)
	want := Samples{
		"write/shape=tasks/files:os":       {perOp: {5e7}, "busy": {3}, "log-MiB": {1}, "allocs/op": {1}},
		"write/shape=tasks/files:os@btrfs": {perOp: {1e8}, "busy": {0}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for name, want := range map[string]string{
		"write/shape=tasks/files:os@xfs": "no xfs directory given: --dirs DIR,DIR",
		"write/shape=tasks/crawshaw":     "crawshaw was skipped: no C compiler",
		"write/shape=tasks/mattn":        "mattn failed: it ended",
	} {
		if got := missing(set, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// A watch stops a run at a step.
type watch struct {
	stop   func()
	at     int
	notes  []string
	judged []string
}

func (w *watch) Progress(_, _ string, done, _ int) {
	if w.stop != nil && done == w.at {
		w.stop()
	}
}
func (w *watch) Note(text string) { w.notes = append(w.notes, text) }
func (w *watch) Ended()           {}
func (w *watch) Judged(c *Claim, r *Result) {
	w.judged = append(w.judged, c.Name+" "+string(r.Verdict))
}

func options(t *testing.T, w *watch, claims ...*Claim) *Options {
	t.Helper()
	dir := t.TempDir()
	return &Options{
		Claims: claims, Samples: 3, Dirs: []string{dir}, Project: project, Cache: filepath.Join(dir, "cache"), Out: filepath.Join(dir, "out"),
		Command: "a test", Timeout: time.Minute, Watch: w,
	}
}

// benchmark is a source in the benchmarks below testdata.
func benchmark(name string) *Bench {
	return &Bench{Name: strings.ToLower(name), Module: "lab", Package: "./claim/testdata/bench", Pattern: "^Benchmark" + name + "$", Args: "-test.v -test.benchtime=1x"}
}

// A run that was interrupted goes on where it was.
func TestResume(t *testing.T) {
	t.Parallel()
	one := &Claim{Name: "one", From: benchmark("Good"), Case: "Good/*", Ours: "ours", Peers: []string{"theirs"}}
	ctx, stop := context.WithCancel(t.Context())
	o := options(t, &watch{stop: stop, at: 1}, one)
	if _, err := Measure(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	path := filepath.Join(o.Out, "good.txt")
	first, err := os.ReadFile(path)
	if err != nil || strings.Count(string(first), "round:") != 1 {
		t.Fatalf("%v: %s", err, first)
	}
	o.Watch, o.Resume = &watch{}, true
	r, err := Measure(t.Context(), o)
	if err != nil || r.Result("one").Samples != 3 || r.Result("one").Verdict != NoGoal {
		t.Fatalf("resumed: %v, %+v", err, r)
	}
	if all, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(all), string(first)) {
		t.Errorf("%v: %s does not begin with %s", err, all, first)
	}
	o.Samples = 4
	if _, err := Measure(t.Context(), o); err == nil || !strings.Contains(err.Error(), "leave --resume out") {
		t.Errorf("resumed with more samples: %v", err)
	}
}

// Benchmarks that fail, or skip a side, are not measured. All others are.
func TestReasons(t *testing.T) {
	t.Parallel()
	var claims []*Claim
	for _, name := range []string{"Fails", "Lacks", "Good"} {
		claims = append(claims, &Claim{Name: strings.ToLower(name), From: benchmark(name), Case: name + "/*", Ours: "ours", Peers: []string{"theirs"}})
	}
	o := options(t, &watch{}, claims...)
	r, err := Measure(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	judged := o.Watch.(*watch).judged
	if want := []string{"fails not measured", "lacks not measured", "good measured"}; !slices.Equal(judged, want) {
		t.Errorf("told as they were measured: %q, want %q", judged, want)
	}
	for name, want := range map[string]string{"fails": "1 line to show", "lacks": "no such file", "good": ""} {
		res := r.Result(name)
		if (res.Verdict == Unmeasured) != (want != "") || !strings.Contains(res.Reason, want) {
			t.Errorf("%s: %+v, want %q", name, res, want)
		}
	}
}

// A benchmark that skips itself tells why there is no sample of it.
func TestNoSample(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "http.txt")
	text := "BenchmarkHTTP/nginx\n    http_test.go:36: nginx is not installed\n--- SKIP: BenchmarkHTTP/nginx\nPASS\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"HTTP/nginx": "nginx is not installed", "HTTP/nginx/one": "nginx is not installed",
		"HTTP/folio": "http.txt has no HTTP/folio", "HTTP/nginx2": "http.txt has no HTTP/nginx2",
	} {
		if got := noSample(path, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A chart shows each claim as a bar that begins at 1, or says that it was not measured.
func TestChart(t *testing.T) {
	t.Parallel()
	for i := range Charts {
		if len(Charts[i].bars()) == 0 {
			t.Errorf("chart %s has no bar", Charts[i].Name)
		}
	}
	for _, c := range All() {
		known := slices.ContainsFunc(Charts, func(chart Chart) bool { return chart.Name == c.Chart })
		if (c.Chart != "") != known || known && (c.Kind != Faster || c.Bar == "") {
			t.Errorf("claim %s: it is in chart %q, with label %q", c.Name, c.Chart, c.Bar)
		}
	}
	r := &Report{Results: []Result{
		{Claim: "fast", Figure: &Figure{Value: 10, Low: 8, High: 12}},
		{Claim: "slow", Figure: &Figure{Value: 0.5, Low: 0.4, High: 0.6}},
	}}
	bars := []*Claim{{Name: "fast", Bar: "fast & well"}, {Name: "slow", Bar: "slow"}, {Name: "new", Bar: "new"}}
	text := r.chart(&Chart{Title: "a < b"}, bars, themes[0])
	var svg struct {
		Title string `xml:"title"`
		Bars  []struct {
			Rect []struct {
				X     float64 `xml:"x,attr"`
				Width float64 `xml:"width,attr"`
			} `xml:"rect"`
			Text []string `xml:"text"`
		} `xml:"g"`
	}
	if err := xml.Unmarshal(text, &svg); err != nil || svg.Title != "a < b" || len(svg.Bars) != 3 {
		t.Fatalf("%v, %+v, %s", err, svg, text)
	}
	fast, slow, none, one := svg.Bars[0], svg.Bars[1], svg.Bars[2], scalePlace(1)
	if fast.Rect[0].X != one || fast.Rect[0].Width != scalePlace(10)-one || !slices.Equal(fast.Text, []string{"fast & well", "10"}) {
		t.Errorf("10 times as fast: %+v", fast)
	}
	if slow.Rect[0].X+slow.Rect[0].Width != one || slow.Rect[0].Width <= 0 {
		t.Errorf("half as fast: %+v", slow)
	}
	if len(none.Rect) != 0 || none.Text[1] != "not measured" {
		t.Errorf("not measured: %+v", none)
	}
}
