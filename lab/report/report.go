// Package report makes tables of result files, for a page and for a terminal. The page is one HTML
// file that needs neither scripts nor the network. It has a table for each case, with the command
// that makes these figures again. Cases of different promises of durability never share a table
// (rule 1), and runs are not pooled: the same case in two runs has two tables.
package report

import (
	"bufio"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/foliofs/folio/lab/figure"
	"github.com/foliofs/folio/lab/result"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// Write writes the page of some runs.
func Write(w io.Writer, sets []*result.Set) error {
	var runs []run
	for _, s := range sets {
		runs = append(runs, run{s, Tables(s, figure.Named("rate", "p50", "p99", "cpu", "allocs", "size", "busy"))})
	}
	return pageTemplate.Execute(w, runs)
}

// A run is a result file on the page.
type run struct {
	*result.Set
	Tables []Table
}

// Dirs lists the directories with their file systems.
func (r run) Dirs() string {
	var list []string
	for _, d := range r.Run.Dirs {
		list = append(list, d.Path+" ("+d.Kind()+")")
	}
	return strings.Join(list, ", ")
}

// A Table is a case of a run, the fastest contender first.
type Table struct {
	*result.Case
	Command string
	Heads   []string
	Rows    []Row
	Missing []string // contenders that failed or took no part, with the reasons
}

// A Row is a contender in a case.
type Row struct {
	*result.Contender
	Cells    []Cell
	Samples  string
	rate     float64
	BarWidth float64 // percent of the widest
}

// A Cell is a median, with its interval if there is one. Both are empty if the value is not known.
type Cell struct{ Median, Interval string }

// Tables returns a table of some figures for each case that has samples.
func Tables(s *result.Set, figures []*figure.Figure) (list []Table) {
	for i := range s.Cases {
		if t := newTable(s, &s.Cases[i], figures); len(t.Rows) > 0 {
			list = append(list, t)
		}
	}
	return list
}

func newTable(s *result.Set, c *result.Case, figures []*figure.Figure) Table {
	t := Table{Case: c, Command: Command(s, c)}
	for _, f := range figures {
		t.Heads = append(t.Heads, f.TitleOf(c.Unit))
	}
	for _, who := range s.In(c.ID) {
		samples := s.Of(c.ID, who.ID)
		rate, _ := figure.Of(figure.All[0].Values(samples))
		r := Row{Contender: who, Samples: figure.Count(len(samples)), rate: rate.Median}
		for _, f := range figures {
			r.Cells = append(r.Cells, NewCell(f, samples))
		}
		t.Rows = append(t.Rows, r)
	}
	slices.SortStableFunc(t.Rows, func(a, b Row) int { return cmp.Compare(b.rate, a.rate) })
	for i := range t.Rows {
		t.Rows[i].BarWidth = 100 * t.Rows[i].rate / t.Rows[0].rate
	}
	for _, f := range s.Failures {
		if f.Case == c.ID {
			t.Missing = append(t.Missing, f.Contender+" failed: "+f.Error)
		}
	}
	for _, skip := range s.Skips {
		if skip.Case == c.ID {
			t.Missing = append(t.Missing, skip.Contender+": "+skip.Reason)
		}
	}
	return t
}

// NewCell estimates a figure from samples.
func NewCell(f *figure.Figure, samples []*result.Sample) (c Cell) {
	if e, ok := figure.Of(f.Values(samples)); ok {
		c = Cell{f.Unit.Format(e.Median), e.Interval(f.Unit, " to ")}
	}
	return c
}

// Command returns the command that makes the figures of one case again, and no others, from the
// project's directory.
func Command(s *result.Set, c *result.Case) string {
	if c.Workload == "query" {
		return s.Run.Command
	}
	words := []string{"run", c.Workload}
	for _, p := range c.All() {
		if p.Name != "dir" {
			words = append(words, "--"+c.Workload+"."+p.Name, p.Value)
		}
	}
	var who []string
	server := false
	for _, contender := range s.In(c.ID) {
		who = append(who, contender.ID)
		server = server || contender.Kind == result.KindServer
	}
	if len(who) > 0 {
		words = append(words, "--contenders", strings.Join(who, ","))
	}
	if server {
		words = append(words, "--postgres", "ADDRESS")
	}
	words = append(words, "--dirs", c.Dir, "--samples", strconv.Itoa(s.Run.Rounds), "--seed", strconv.FormatUint(s.Run.Seed, 10))
	return result.ShellCommand(words)
}

// WriteGoBench writes every sample of a run as a line of Go's benchmark format, which benchstat
// reads:
//
//	benchstat -col /contender -row .name samples.txt
func WriteGoBench(w io.Writer, s *result.Set) error {
	out := bufio.NewWriter(w)
	m := s.Run.Machine
	fmt.Fprintf(out, "goos: %s\ngoarch: %s\npkg: github.com/foliofs/folio/lab\n", m.OS, m.Arch)
	if m.CPU != "" {
		fmt.Fprintf(out, "cpu: %s\n", m.CPU)
	}
	dir := ""
	for i := range s.Samples {
		sample := &s.Samples[i]
		if c := s.Case(sample.Case); c.Dir != dir {
			dir = c.Dir
			fmt.Fprintf(out, "dir: %s\n", dir)
		}
		fmt.Fprintf(out, "%s-%d\t%d\t%.4g ns/op", goBenchName(sample), m.Cores, sample.Ops, sample.PerOp())
		for _, f := range figure.All {
			if x, ok := f.Of(sample); ok {
				fmt.Fprintf(out, "\t%.6g %s", x, f.Bench)
			}
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

// goBenchName is the name of a benchmark: the case with a capital letter, then the contender as a
// parameter.
func goBenchName(m *result.Sample) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, m.Case+"/contender="+m.Contender)
	return "Benchmark" + strings.ToUpper(name[:1]) + name[1:]
}
