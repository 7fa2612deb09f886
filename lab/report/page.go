// Package report makes a page of result files: one HTML file that needs neither scripts nor the
// network. It has a table for each case, with the command that makes these figures again. Cases of
// different promises of durability never share a table (rule 1), and runs are not pooled: the same
// case in two runs has two tables.
package report

import (
	"cmp"
	_ "embed"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/foliofs/folio/lab/figure"
	"github.com/foliofs/folio/lab/result"
)

// shown are the figures in a table.
var shown = []string{"rate", "p50", "p99", "cpu", "allocs", "size", "busy"}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// Write writes the page of some runs.
func Write(w io.Writer, sets []*result.Set) error {
	var runs []run
	for _, s := range sets {
		runs = append(runs, newRun(s))
	}
	return pageTemplate.Execute(w, runs)
}

// A run is a result file on the page.
type run struct {
	*result.Set
	Tables []table
}

// A table is a case of a run.
type table struct {
	*result.Case
	Command string
	Heads   []string
	Rows    []row
	Missing []string // contenders that failed or took no part, with the reasons
}

// A row is a contender in a case.
type row struct {
	*result.Contender
	Cells    []cell
	Samples  string
	median   float64 // of the rate
	BarWidth float64 // percent of the widest
}

// A cell is a median, with its interval if there is one.
type cell struct{ Median, Interval string }

func newRun(s *result.Set) run {
	r := run{Set: s}
	for i := range s.Cases {
		if t := newTable(s, &s.Cases[i]); len(t.Rows) > 0 {
			r.Tables = append(r.Tables, t)
		}
	}
	return r
}

func newTable(s *result.Set, c *result.Case) table {
	t := table{Case: c, Command: Command(s, c)}
	for _, name := range shown {
		f, _ := figure.Find(name) // it is there
		t.Heads = append(t.Heads, f.TitleOf(c.Unit))
	}
	for _, who := range s.In(c.ID) {
		t.Rows = append(t.Rows, newRow(who, s.Of(c.ID, who.ID)))
	}
	slices.SortStableFunc(t.Rows, func(a, b row) int { return cmp.Compare(b.median, a.median) })
	for i := range t.Rows {
		t.Rows[i].BarWidth = 100 * t.Rows[i].median / t.Rows[0].median
	}
	for _, f := range s.Failures {
		if f.Case == c.ID {
			t.Missing = append(t.Missing, f.Contender+" failed: "+f.Error)
		}
	}
	for i := range s.Skips {
		if skip := &s.Skips[i]; skip.Case == c.ID {
			t.Missing = append(t.Missing, skip.Contender+": "+skip.Reason)
		}
	}
	return t
}

func newRow(who *result.Contender, samples []*result.Sample) row {
	r := row{Contender: who, Samples: figure.Count(len(samples))}
	for _, name := range shown {
		f, _ := figure.Find(name)
		e, ok := figure.Of(f.Values(samples))
		var c cell
		if ok {
			c.Median = f.Unit.Format(e.Median)
		}
		if ok && e.Interval {
			c.Interval = f.Unit.Format(e.Lo) + " to " + f.Unit.Format(e.Hi)
		}
		if name == "rate" {
			r.median = e.Median
		}
		r.Cells = append(r.Cells, c)
	}
	return r
}

// Dirs lists the directories with their file systems.
func (r run) Dirs() string {
	var list []string
	for _, d := range r.Run.Dirs {
		list = append(list, d.Path+" ("+d.Kind()+")")
	}
	return strings.Join(list, ", ")
}
