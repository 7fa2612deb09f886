package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/foliofs/folio/lab/figure"
	"github.com/foliofs/folio/lab/report"
	"github.com/foliofs/folio/lab/result"
)

// table aligns the columns of a table at their right.
func (c *command) table() *tabwriter.Writer {
	return tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
}

// summary prints a table for each case of a result file, the fastest contender first. With details
// set, it adds what the case does, the contenders that are missing, the command that measures this
// case alone, and at the end the notes on contenders.
func (c *command) summary(path string, details bool) error {
	s, err := readResults(path)
	if err != nil {
		return err
	}
	tw := c.table()
	for _, t := range report.Tables(s, figure.Named("rate", "p50", "p99", "cpu", "allocs", "log", "busy")) {
		fmt.Fprintf(tw, "\n%s\n%s (%s)\t", t.Question, t.ID, t.Group)
		for _, head := range append(t.Heads, "samples") {
			fmt.Fprintf(tw, "%s\t", head)
		}
		fmt.Fprintln(tw)
		for _, row := range t.Rows {
			fmt.Fprintf(tw, "%s\t%s\t%s\t\n", row.ID, strings.Join(row.Cells, "\t"), row.Samples)
		}
		if details {
			fmt.Fprintln(tw, t.Details())
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(c.stdout)
	for i := range s.Contenders {
		for _, note := range s.Contenders[i].Notes {
			if details {
				fmt.Fprintf(c.stdout, "%s: %s\n", s.Contenders[i].ID, note)
			}
		}
	}
	fmt.Fprintf(c.stdout, "%d samples, %d failures in %s\n", len(s.Samples), len(s.Failures), path)
	c.closing(s)
	return nil
}

// querySummary prints queries a second: a line for each driver that takes part, a column for each
// case. A star says that the samples are few.
func (c *command) querySummary(path string) error {
	s, err := result.ReadFile(path)
	if err != nil {
		return err
	}
	tw := c.table()
	fmt.Fprint(tw, "\nqueries/s\t")
	for i := range s.Cases {
		fmt.Fprintf(tw, "%s x %s\t", s.Cases[i].Param("mode"), s.Cases[i].Param("goroutines"))
	}
	fmt.Fprintln(tw)
	for i := range s.Contenders {
		who := s.Contenders[i].ID
		if !takesPart(s, who) {
			continue
		}
		fmt.Fprintf(tw, "%s\t", who)
		for j := range s.Cases {
			samples := s.Of(s.Cases[j].ID, who)
			cell := "-"
			if rate, ok := figure.Of(figure.All[0].Values(samples)); ok {
				cell = figure.All[0].Unit.Format(rate.Median)
			}
			if n := len(samples); 0 < n && n < figure.Samples {
				cell += "*"
			}
			fmt.Fprintf(tw, "%s\t", cell)
		}
		fmt.Fprintln(tw)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "\n%d samples, each answer checked, %d failures in %s\n", len(s.Samples), len(s.Failures), path)
	c.closing(s)
	return nil
}

// takesPart reports whether a contender has done anything, well or not.
func takesPart(s *result.Set, who string) bool {
	return slices.ContainsFunc(s.Samples, func(m result.Sample) bool { return m.Contender == who }) ||
		slices.ContainsFunc(s.Failures, func(f result.Failure) bool { return f.Contender == who })
}

// closing says how long the parts of a run took, and of how many rows the samples are few.
func (c *command) closing(s *result.Set) {
	if e := s.End; e != nil {
		fmt.Fprintf(c.stdout, "building the contenders took %s, making databases %s, measuring %s\n", seconds(e.Building), seconds(e.Making), seconds(e.Measuring))
	}
	rows, few := 0, 0
	for i := range s.Cases {
		for _, who := range s.In(s.Cases[i].ID) {
			if rows++; len(s.Of(s.Cases[i].ID, who.ID)) < figure.Samples {
				few++
			}
		}
	}
	switch {
	case few == 0:
	case few == rows:
		fmt.Fprintf(c.stdout, "every row has fewer than %d samples: these figures are for looking, not for choosing\n", figure.Samples)
	default:
		fmt.Fprintf(c.stdout, "%d of %d rows have fewer than %d samples: those are for looking, not for choosing\n", few, rows, figure.Samples)
	}
}

// seconds writes a duration for people.
func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(10 * time.Millisecond)
}
