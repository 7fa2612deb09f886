package report

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/lab/result"
)

// inputs are real results: testdata/README.md says how they were made.
func inputs(t *testing.T) (list []Input) {
	t.Helper()
	for _, base := range []string{"first", "looked", "systems"} {
		list = append(list, Input{Base: base, Set: testdata(t, base)})
	}
	return list
}

func testdata(t *testing.T, base string) *result.Set {
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
	return read(t, z)
}

// read reads results.
func read(t *testing.T, from io.Reader) *result.Set {
	t.Helper()
	s, err := result.Read(from)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// render makes a page and returns its HTML.
func render(t *testing.T, p *Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.HTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A page has a verdict, a chart, a table and a command for each case, and no chart has two groups.
func TestPage(t *testing.T) {
	t.Parallel()
	in := inputs(t)
	p := New(noon, in)
	text := render(t, p)
	if n := len(text); n > 3<<19 {
		t.Errorf("the page has %d bytes", n)
	}
	cases := 0
	for _, q := range p.Questions {
		if q.Verdict == "" || !strings.Contains(text, `<a href="#`+q.ID+`">`) {
			t.Errorf("%s: verdict %q, or no way to it", q.Text, q.Verdict)
		}
		for _, s := range q.Sections {
			for _, panel := range s.Panels {
				cases++
				if panel.Case.Group != s.Group {
					t.Errorf("%s is of group %s, and shown in %s", panel.Case.ID, panel.Case.Group, s.Group)
				}
				if !strings.HasSuffix(panel.Verdict, ".") || panel.Bars == "" || !strings.Contains(text, html.EscapeString(panel.Command)) {
					t.Errorf("%s: verdict %q, chart %q, command %q", panel.Case.ID, panel.Verdict, panel.Bars, panel.Command)
				}
			}
		}
	}
	want := 0
	for _, i := range in {
		want += len(i.Set.Cases)
	}
	if cases != want {
		t.Errorf("%d cases are shown, there are %d", cases, want)
	}
	if strings.Contains(text, "%!") {
		t.Error("a value is written in a form that is not its own")
	}
	for _, want := range []string{"p50", "p99", "95 % interval", "allocations a", "processor time a", "peak memory", "size on disk", "its log", "warm-up", "syncs a", "Scaling over goroutines", "Time of each round", "Processor time", "System calls"} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing says %q", want)
		}
	}
}

// The page loads nothing: every address in it is its own, or of a file next to it.
func TestOffline(t *testing.T) {
	t.Parallel()
	text := render(t, New(noon, inputs(t)))
	if !strings.Contains(text, "default-src &#39;none&#39;") {
		t.Error("no policy forbids to load anything")
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(m[1], "#") && !regexp.MustCompile(`^(first|looked|systems)\.(csv|json|txt)$`).MatchString(m[1]) {
			t.Errorf("it refers to %s", m[1])
		}
	}
}

// The library in the page says whose it is, as its licences ask.
func TestLicences(t *testing.T) {
	t.Parallel()
	notices, err := os.ReadFile(filepath.Join("assets", "echarts", "banner.js"))
	if err != nil {
		t.Fatal(err)
	}
	text := render(t, New(noon, inputs(t)))
	for _, want := range []string{string(bytes.TrimSpace(notices)), "Apache License, Version 2.0", "Baidu", "Bostock", "Microsoft"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %.60q", want)
		}
	}
}

// Next to the page lie the samples in three forms, each readable by a program.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir, in := t.TempDir(), inputs(t)
	if err := New(noon, in).Write(dir); err != nil {
		t.Fatal(err)
	}
	for _, i := range in {
		samples := len(i.Set.Samples)
		if n := lines(t, filepath.Join(dir, i.Base+".csv")); n != samples+1 {
			t.Errorf("%s.csv has %d lines for %d samples", i.Base, n, samples)
		}
		text, err := os.ReadFile(filepath.Join(dir, i.Base+".txt"))
		if n := bytes.Count(text, []byte("\nBenchmark")); err != nil || n != samples {
			t.Errorf("%s.txt has %d benchmarks for %d samples: %v", i.Base, n, samples, err)
		}
		var doc jsonRun
		data, err := os.ReadFile(filepath.Join(dir, i.Base+".json"))
		if err == nil {
			err = json.Unmarshal(data, &doc)
		}
		if err != nil || len(doc.Samples) != samples || len(doc.Figures) == 0 {
			t.Errorf("%s.json: %d samples, %d figures: %v", i.Base, len(doc.Samples), len(doc.Figures), err)
		}
	}
}

func lines(t *testing.T, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(data, []byte("\n"))
}

// The head of hostile files: a run, two contenders, a case.
const head = `{"run":{"format":1,"id":"a","command":"go -C lab run . run lookup","rounds":2,"machine":{"os":"linux","arch":"amd64","cores":2,"go":"go1.26"},"dirs":[{"path":"/data"}]}}
{"contender":{"id":"one","name":"one","kind":"sql"}}
{"contender":{"id":"two","name":"two","kind":"engine","ours":true}}
{"case":{"id":"lookup/by=id","workload":"lookup","question":"How fast?","group":"read","unit":"read","params":[{"name":"by","value":"id"}]}}
`

// sample is a line of a result file.
func sample(who string, ops int64, seconds string, more string) string {
	return fmt.Sprintf(`{"sample":{"case":"lookup/by=id","contender":%q,"round":1,"ops":%d,"seconds":%s%s}}`+"\n", who, ops, seconds, more)
}

// Each damaged or hostile result file has a page that says so, and no text of the file becomes HTML
// or a script.
func TestHostile(t *testing.T) {
	t.Parallel()
	const evil = `<script>alert(1)</script>`
	for name, tt := range map[string]struct{ text, want string }{
		"no samples":        {head, "There are no figures for this question."},
		"one sample":        {head + sample("one", 1000, "0.5", ""), "only one has figures: 2 k read/s; fewer than 10 samples: one."},
		"one sample each":   {head + sample("one", 1000, "0.5", "") + sample("two", 1000, "0.25", ""), "two came out first: 4 k read/s, 2 times as many as one; 1 of 10 samples are too few to be sure."},
		"no operations":     {head + sample("one", 0, "0.5", ""), "its samples hold no figures"},
		"no time":           {head + sample("one", 10, "0", ""), "its samples hold no figures"},
		"less than no time": {head + sample("one", 10, "-1", ""), "its samples hold no figures"},
		"huge":              {head + sample("one", 1<<62, "1e-300", `,"latency":{"timed":99,"p50":9223372036854775807,"p90":9223372036854775807,"p99":9223372036854775807,"max":9223372036854775807},"use":{"peak_memory":9223372036854775807}`), "its samples hold no figures"},
		"large":             {head + sample("one", 1<<62, "1e-3", `,"latency":{"timed":99,"p50":9223372036854775807,"p90":9223372036854775807,"p99":9223372036854775807,"max":9223372036854775807},"use":{"peak_memory":9223372036854775807}`), "4.61e+09 T read/s"},
		"negative latency":  {head + sample("one", 10, "1", `,"latency":{"timed":99,"p50":-5,"p90":0,"p99":0,"max":0,"curve":[{"at":-3,"time":-1},{"at":7,"time":0}]}`), "10 read/s"},
		"a curve beyond":    {head + sample("one", 10, "1", `,"latency":{"timed":99,"p50":5,"p90":5,"p99":5,"max":5,"curve":[{"at":-3,"time":1},{"at":7,"time":2}]}`), "10 read/s"},
		"an odd series":     {head + sample("one", 10, "1", `,"series":{"a":[],"b":[0],"c_seconds":[1,2,-3],"<b>":[1,2]}`), "10 read/s"},
		"unknown workload": {
			head + `{"case":{"id":"x","workload":"levitate","group":"read"}}` + "\n" + `{"sample":{"case":"x","contender":"one","ops":1,"seconds":1}}` + "\n",
			"What does the workload levitate say?",
		},
		"unknown group": {
			head + `{"case":{"id":"x","workload":"levitate","group":"sworn"}}` + "\n" + `{"sample":{"case":"x","contender":"one","ops":1,"seconds":1}}` + "\n",
			`<span class="badge">sworn</span>`,
		},
		"unknown kind":   {head + `{"contender":{"id":"three","kind":"oracle"}}` + "\n" + sample("three", 10, "1", ""), "only three has figures"},
		"truncated":      {head + sample("one", 1000, "0.5", "") + `{"sample":{"case":"lookup/by=id","contender":"one","ro`, "only one has figures: 2 k"},
		"not ended":      {head, "This run has not ended"},
		"interrupted":    {head + `{"end":{"interrupted":true}}` + "\n", "This run was interrupted"},
		"no profiles":    {head, "There are no profiles and no counts of system calls in these results"},
		"a failure":      {head + `{"failure":{"case":"lookup/by=id","contender":"two","kind":"wrong","error":"row 7"}}` + "\n", "rule 7: it gave a wrong answer"},
		"a lost failure": {head + `{"failure":{"case":"nowhere","contender":"nobody","kind":"sulks","error":"` + evil + `"}}` + "\n", "sulks"},
		"a skip":         {head + `{"skip":{"contender":"three","reason":"the registry refuses it"}}` + "\n", "the registry refuses it"},
		"a name": {
			head + `{"contender":{"id":"` + evil + `","title":"` + evil + `","notes":["` + evil + `"]}}` + "\n" + sample(evil, 10, "1", `,"settings":{"`+evil+`":"`+evil+`"}`), "10 read/s",
		},
		"a case": {
			head + `{"case":{"id":"` + evil + `","workload":"` + evil + `","question":"` + evil + `","unit":"` + evil + `","group":"` + evil + `","params":[{"name":"` + evil + `","value":"` + evil + `"}]}}` +
				"\n" + `{"sample":{"case":"` + evil + `","contender":"one","ops":1,"seconds":1}}` + "\n", html.EscapeString(evil),
		},
		"a machine": {strings.Replace(head, `"cpu"`, `"x"`, 1) + `{"profile":{"case":"lookup/by=id","contender":"` + evil + `","of":"cpu","total":1e300,"leaves":[{"name":"` + evil + `","part":7},{"name":"</script>","part":-1}]}}` + "\n" +
			`{"trace":{"case":"lookup/by=id","contender":"one","calls":{"` + evil + `":3}}}` + "\n", "Where the time goes"},
	} {
		s, err := result.Read(strings.NewReader(tt.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text := render(t, New(noon, []Input{{Base: "hostile", Set: s}}))
		plain := html.UnescapeString(regexp.MustCompile(`</?b>`).ReplaceAllString(text, ""))
		if !strings.Contains(text, tt.want) && !strings.Contains(plain, tt.want) {
			t.Errorf("%s: nothing says %q", name, tt.want)
		}
		if n := strings.Count(text, "<script"); n != 3 || strings.Contains(text, evil) {
			t.Errorf("%s: %d scripts", name, n)
		}
		if m := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(text); m == nil || !json.Valid([]byte(m[1])) {
			t.Errorf("%s: the data of the charts are no JSON", name)
		}
		if err := New(noon, []Input{{Base: "hostile", Set: s}}).Write(t.TempDir()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Verdicts say no more than the samples show.
func TestVerdict(t *testing.T) {
	t.Parallel()
	many := func(who string, ops int64) (text string) {
		for i := range int64(10) {
			text += sample(who, ops+i*ops/1000, "1", "")
		}
		return text
	}
	for name, tt := range map[string]struct{ text, want string }{
		"a clear case": {many("one", 1000) + many("two", 3000), "two is fastest: 3.01 k read/s, 3 times as many as one."},
		"ours behind":  {many("one", 3000) + many("two", 1000), "one is fastest: 3.01 k read/s, 3 times as many as two."},
		"level":        {many("one", 3000) + many("two", 3001), "level, as far as these samples tell: two, one; about 3.01 k read/s."},
	} {
		s := read(t, strings.NewReader(head+tt.text))
		if got := New(noon, []Input{{Base: "x", Set: s}}).Questions[0].Verdict; got != tt.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A row of fewer samples than there should be is said to be that, in the verdict and in the table;
// and the sentence of a question counts the cases.
func TestFew(t *testing.T) {
	t.Parallel()
	some := func(who string, ops int64, n int) (text string) {
		for range n {
			text += sample(who, ops, "1", "")
		}
		return text
	}
	other := strings.ReplaceAll(strings.Split(head, "\n")[3]+"\n", "by=id", "by=path")
	for name, tt := range map[string]struct{ text, panel, question, cell string }{
		"enough": {some("one", 1000, 10) + some("two", 3000, 10), "two is fastest: 3 k read/s, 3 times as many as one.", "", "<td>10</tr>"},
		"both":   {some("one", 1000, 7) + some("two", 3000, 7), "two is fastest: 3 k read/s, 3 times as many as one; fewer than 10 samples: two, one.", "", `<td class="few">7 of 10</tr>`},
		"one":    {some("one", 1000, 9) + some("two", 3000, 10), "two is fastest: 3 k read/s, 3 times as many as one; fewer than 10 samples: one.", "", `<td class="few">9 of 10</tr>`},
		"two cases": {
			some("one", 1000, 9) + some("two", 3000, 10) + other + strings.ReplaceAll(some("one", 1000, 10)+some("two", 3000, 10), "by=id", "by=path"),
			"two is fastest: 3 k read/s, 3 times as many as one; fewer than 10 samples: one.",
			"two is first in 2 of 2 cases; fewer than 10 samples in 1 of 2 cases.", "",
		},
	} {
		s := read(t, strings.NewReader(head+tt.text))
		p := New(noon, []Input{{Base: "x", Set: s}})
		if got := p.Questions[0].panels()[0].Verdict; got != tt.panel {
			t.Errorf("%s: the case: %s", name, got)
		}
		if got := p.Questions[0].Verdict; tt.question != "" && got != tt.question {
			t.Errorf("%s: the question: %s", name, got)
		}
		if !strings.Contains(render(t, p), tt.cell) {
			t.Errorf("%s: the table has no %s", name, tt.cell)
		}
	}
}

// Cases that differ in the file system only have one chart, in the section of their promise, and a
// verdict that says no more than the samples show.
func TestSystems(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(head, "\n")
	text := lines[0] + lines[1] + lines[2] + `{"contender":{"id":"three","name":"three","kind":"files"}}` + "\n"
	for _, group := range []string{"none", "durable"} {
		for _, dir := range []string{"ext4", "btrfs"} {
			id := "write/durability=" + group + "/dir=" + dir
			text += fmt.Sprintf(`{"case":{"id":%q,"workload":"write","question":"How fast?","group":%q,"unit":"task","params":[{"name":"durability","value":%q},{"name":"dir","value":%q}]}}`+"\n", id, group, group, dir)
			for who, rate := range map[string]int64{"one": 1000, "two": 5000, "three": 200} {
				switch {
				case dir == "btrfs" && who == "three":
					rate *= 4
				case dir == "btrfs" && who == "two":
					rate /= 2
				}
				for i := range int64(10) {
					text += strings.ReplaceAll(sample(who, rate+(i*7)%10*rate/1000, "1", ""), "lookup/by=id", id)
				}
			}
		}
	}
	s := read(t, strings.NewReader(text))
	p := New(noon, []Input{{Base: "x", Set: s}})
	page := render(t, p)
	for _, section := range p.Questions[0].Sections {
		if len(section.Systems) != 1 {
			t.Fatalf("%s: %d charts of file systems", section.Group, len(section.Systems))
		}
		all := section.Systems[0]
		const want = "faster on ext4: two 2.00 times; faster on btrfs: three 4.01 times; level: one."
		if got := all.Verdict; got != want || all.Title != "ext4 and btrfs side by side" {
			t.Errorf("%s: %s: %s, want %s", section.Group, all.Title, got, want)
		}
		for _, panel := range all.panels {
			if panel.Case.Group != section.Group {
				t.Errorf("%s stands in %s", panel.Case.ID, section.Group)
			}
		}
		c := p.Charts[all.Chart].(*groupChart)
		if len(c.Rows) != 3 || c.Rows[0].Name != "two" || len(c.Rows[0].Bars) != 2 || c.Rows[0].Bars[0].Value <= c.Rows[0].Bars[1].Value || !strings.Contains(page, `id="`+all.Chart+`"`) {
			t.Errorf("%s: %+v", section.Group, c)
		}
	}
}

// The profiles lie next to the page, and the page names them there, even after it was moved. Names
// of other places in a result file are not believed.
func TestProfiles(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"x.profiles/one.cpu.pprof": "a profile", "secret": "a secret"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	sub := filepath.Join(dir, "sub")
	for _, tt := range []struct {
		file, in string
		found    bool
	}{
		{"x.profiles/one.cpu.pprof", dir, true},
		{"/somewhere/else/x.profiles/one.cpu.pprof", dir, true}, // as older versions wrote
		{"x.profiles/none.cpu.pprof", dir, false},
		{"../secret", sub, false},
		{"..", dir, false},
		{"", dir, false},
		{"x.profiles/one.cpu.pprof", "", false},
	} {
		s := read(t, strings.NewReader(head+sample("one", 10, "1", "")+
			fmt.Sprintf(`{"profile":{"case":"lookup/by=id","contender":"one","of":"cpu","file":%q,"total":1,"leaves":[{"name":"main.read","part":1}]}}`+"\n", tt.file)))
		p := New(noon, []Input{{Base: "y", Dir: tt.in, Set: s}})
		if err := p.Write(out); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(out, "y.profiles", "one.cpu.pprof"))
		if (err == nil) != tt.found || tt.found && string(text) != "a profile" {
			t.Errorf("%q: %q, %v", tt.file, text, err)
		}
		if page := render(t, p); strings.Contains(page, "go tool pprof y.profiles/one.cpu.pprof") != tt.found || strings.Contains(page, "its file is not beside the results") == tt.found {
			t.Errorf("%q: the page names it, or does not", tt.file)
		}
		if err := os.RemoveAll(filepath.Join(out, "y.profiles")); err != nil {
			t.Fatal(err)
		}
	}
}
