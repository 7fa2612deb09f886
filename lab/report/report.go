// Package report makes tables of result files: one for each case, with the command that makes these
// figures again. Cases of different promises of durability never share a table (rule 1).
package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/foliofs/folio/lab/figure"
	"github.com/foliofs/folio/lab/result"
)

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
	Cells   []string // a median for each head, with its interval as in "513 k ± 2%"; "" if it is not known
	Samples string
	rate    float64
}

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
			r.Cells = append(r.Cells, cell(f, samples))
		}
		t.Rows = append(t.Rows, r)
	}
	slices.SortStableFunc(t.Rows, func(a, b Row) int { return cmp.Compare(b.rate, a.rate) })
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

// Details are the lines for people below a table.
func (t *Table) Details() string {
	lines := append([]string{t.Description}, t.Missing...)
	if t.Repeats != "" {
		lines[0] += " It repeats " + t.Repeats + "."
	}
	return strings.Join(append(lines, t.Command), "\n")
}

// cell writes a median of samples and how far it can be trusted.
func cell(f *figure.Figure, samples []*result.Sample) string {
	e, ok := figure.Of(f.Values(samples))
	if !ok {
		return ""
	}
	return f.Unit.Format(e.Median) + e.Spread()
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
