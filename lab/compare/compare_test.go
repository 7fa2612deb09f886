package compare

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/lab/report/figure"
	"github.com/foliofs/folio/lab/result"
)

// testdata reads a real run: report/testdata/README.md says how it was made.
func testdata(t *testing.T, base string) *result.Set {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "report", "testdata", base+".jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	s, err := result.Read(z)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var options = &Options{Figure: figure.All[0], Min: DefaultMin}

// Two real runs of the same programs, one after the other, do not differ in at least 95 rows of
// 100.
func TestRealRuns(t *testing.T) {
	t.Parallel()
	c := Compare(testdata(t, "first"), testdata(t, "second"), options)
	if len(c.Rows) < 50 || len(c.Left) > 0 || c.Few > 0 {
		t.Fatalf("%d rows, %v left, %d with too few samples", len(c.Rows), c.Left, c.Few)
	}
	if float64(c.Counts[Same]) < 0.95*float64(len(c.Rows)) {
		for _, row := range c.Rows {
			if row.Verdict != Same {
				t.Logf("%s %s: %s, p %v", row.Case, row.Contender, row.Text, row.Adjusted)
			}
		}
		t.Errorf("only %d of %d rows are the same", c.Counts[Same], len(c.Rows))
	}
}

// draw makes a run from samples drawn from the cells of another run. The samples of one contender
// are multiplied by times, and every case has a mood of its own, as real runs have.
func draw(s *result.Set, r *rand.Rand, who string, times, mood float64) *result.Set {
	out := *s
	out.Samples = append([]result.Sample(nil), s.Samples...)
	if who != "" {
		out.Run.Machine.Revision = "another" // of ours, which the one is of
	}
	moods := make(map[string]float64)
	for i := range out.Samples {
		m := &out.Samples[i]
		all := s.Of(m.Case, m.Contender)
		m.Seconds = all[r.IntN(len(all))].Seconds
		if moods[m.Case] == 0 {
			moods[m.Case] = 1 + mood*(2*r.Float64()-1)
		}
		m.Seconds *= moods[m.Case]
		if m.Contender == who {
			m.Seconds /= times
		}
	}
	return rebuild(&out)
}

// writer writes records.
func writer(to io.Writer) func(r result.Record) {
	e := json.NewEncoder(to)
	return func(r result.Record) {
		if err := e.Encode(r); err != nil {
			panic(err)
		}
	}
}

// rebuild makes a set of the records of another.
func rebuild(s *result.Set) *result.Set {
	var b strings.Builder
	w := writer(&b)
	w(result.Record{Run: &s.Run})
	for i := range s.Contenders {
		w(result.Record{Contender: &s.Contenders[i]})
	}
	for i := range s.Cases {
		w(result.Record{Case: &s.Cases[i]})
	}
	for i := range s.Samples {
		w(result.Record{Sample: &s.Samples[i]})
	}
	out, err := result.Read(strings.NewReader(b.String()))
	if err != nil {
		panic(err)
	}
	return out
}

// Runs that are drawn from the same samples, with the scatter of a real machine, do not differ in
// at least 95 rows of 100, with any mood of the machine.
func TestDrawnAlike(t *testing.T) {
	t.Parallel()
	s, r := testdata(t, "first"), rand.New(rand.NewPCG(1, 2))
	for _, mood := range []float64{0, 0.1, 0.3} {
		rows, same := 0, 0
		for range 20 {
			c := Compare(draw(s, r, "", 1, 0), draw(s, r, "", 1, mood), options)
			rows, same = rows+len(c.Rows), same+c.Counts[Same]
		}
		if float64(same) < 0.95*float64(rows) {
			t.Errorf("mood %v: %d of %d rows are the same", mood, same, rows)
		}
	}
}

// A contender that really has changed is found, and no other one is taken for it.
func TestDrawnApart(t *testing.T) {
	t.Parallel()
	s, r := testdata(t, "first"), rand.New(rand.NewPCG(3, 4))
	for _, tt := range []struct {
		times   float64
		verdict Verdict
		found   float64 // the least share of its rows
	}{{2, Up, 0.9}, {1.5, Up, 0.6}, {0.67, Down, 0.6}, {0.5, Down, 0.9}} {
		for _, mood := range []float64{0, 0.2} {
			rows, found, others, wrong := 0, 0, 0, 0
			for range 10 {
				for _, row := range Compare(draw(s, r, "", 1, 0), draw(s, r, "engine", tt.times, mood), options).Rows {
					switch {
					case row.Contender != "engine":
						others++
						if row.Verdict != Same {
							wrong++
						}
					default:
						rows++
						if row.Verdict == tt.verdict {
							found++
						}
					}
				}
			}
			t.Logf("%v times as fast, mood %v: found in %d of %d rows; %d of %d others wrong", tt.times, mood, found, rows, wrong, others)
			if float64(found) < tt.found*float64(rows) || float64(wrong) > 0.05*float64(others) {
				t.Errorf("%v times as fast, mood %v: found in %d of %d rows; %d of %d others wrong", tt.times, mood, found, rows, wrong, others)
			}
		}
	}
}

// run makes a run of a case with samples of contenders: operations per second, or allocations.
func run(t *testing.T, fixed string, rates map[string][]int64) *result.Set {
	t.Helper()
	var b strings.Builder
	w := writer(&b)
	w(result.Record{Run: &result.Run{Format: result.Format, ID: "a", Machine: result.Machine{Revision: "abc"}}})
	c := &result.Case{ID: "c", Fixed: []result.Param{{Name: "rows", Value: fixed}}}
	w(result.Record{Case: c})
	for who, list := range rates {
		w(result.Record{Contender: &result.Contender{ID: who, ModuleVersion: "v1.0.0"}})
		for _, ops := range list {
			w(result.Record{Sample: &result.Sample{Case: "c", Contender: who, Ops: ops, Seconds: 1, Use: result.Use{Allocs: &ops}}})
		}
	}
	s, err := result.Read(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// around are ten rates about one.
func around(rate int64) (list []int64) {
	for i := range int64(10) {
		list = append(list, rate+(i*7%10-5)*rate/1000)
	}
	return list
}

// The text of a row, in words.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		a, b []int64
		want string
	}{
		"the same":    {around(1000), around(1000), "no difference"},
		"a little":    {around(1000), around(1030), "no difference"},
		"faster":      {around(1000), around(1200), "20% faster"},
		"much faster": {around(1000), around(2500), "2.50 times as fast"},
		"slower":      {around(1000), around(800), "20% slower"},
		"much slower": {around(1000), around(250), "4.00 times slower"},
		"few":         {[]int64{1000, 1001, 1002}, []int64{2000, 2001, 2002}, "no difference (too few samples to find one)"},
	} {
		c := Compare(run(t, "1", map[string][]int64{"x": tt.a}), run(t, "1", map[string][]int64{"x": tt.b}), options)
		if got := fmt.Sprint(texts(c)); got != "["+tt.want+"]" {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// The text of a figure that is no time has less and more in place of faster and slower.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		figure  string
		verdict Verdict
		ratio   float64
		want    string
	}{
		{"p99", Up, 0.8, "20% faster"},
		{"p99", Down, 2, "2 times slower"},
		{"allocs", Up, 0.8, "20% less"},
		{"memory", Down, 3, "3 times as much"},
		{"busy", Up, 0, "less"},
		{"size", Same, 1, "no difference"},
	} {
		f, err := figure.Find(tt.figure)
		if err != nil {
			t.Fatal(err)
		}
		for n, more := range map[int]string{figure.Samples: "", 5: " (of 5 and 10 samples, where 10 are asked for)"} {
			row := &Row{Verdict: tt.verdict, Ratio: tt.ratio, A: figure.Estimate{N: n}, B: figure.Estimate{N: figure.Samples}}
			if got := row.text(f); got != tt.want+more {
				t.Errorf("%s: %s, want %s", tt.figure, got, tt.want+more)
			}
		}
	}
}

func texts(c *Comparison) (list []string) {
	for _, row := range c.Rows {
		list = append(list, row.Text)
	}
	return list
}

// A change that all unchanged contenders share comes from the machine.
func TestMood(t *testing.T) {
	t.Parallel()
	a := run(t, "1", map[string][]int64{"x": around(1000), "y": around(5000), "z": around(9000)})
	b := run(t, "1", map[string][]int64{"x": around(700), "y": around(3500), "z": around(6300)})
	if c := Compare(a, b, options); c.Counts[Same] != 3 || c.Mood > 0.71 || c.Mood < 0.69 {
		t.Errorf("%v, mood %v", texts(c), c.Mood)
	}
	b.Run.Machine.CPU = "another"
	if c := Compare(a, b, options); c.Counts[Down] != 3 || len(c.Warnings) != 1 {
		t.Errorf("on another machine: %v, %v", texts(c), c.Warnings)
	}
}

// Rows that are not the same, or that one run has alone, are left out and named.
func TestLeft(t *testing.T) {
	t.Parallel()
	a := run(t, "1", map[string][]int64{"x": around(1000), "y": around(1000)})
	c := Compare(a, run(t, "1", map[string][]int64{"x": around(1000), "z": around(1000)}), options)
	if got := fmt.Sprint(c.Left); len(c.Rows) != 1 || got != "[c y: only in the first run c z: only in the second run]" {
		t.Errorf("%d rows, %s", len(c.Rows), got)
	}
	c = Compare(a, run(t, "2", map[string][]int64{"x": around(1000)}), options)
	if len(c.Rows) != 0 || !strings.Contains(fmt.Sprint(c.Left), "not the same: rows is 1, then 2") {
		t.Errorf("%d rows, %v", len(c.Rows), c.Left)
	}
}
