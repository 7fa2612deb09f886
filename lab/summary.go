package main

import (
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/foliofs/folio/lab/report/figure"
	"github.com/foliofs/folio/lab/result"
)

// summary prints the medians of a result file: enough to look at; the report says how far they can be trusted.
func (c *command) summary(path string) error {
	s, err := result.ReadFile(path)
	if err != nil {
		return err
	}
	rows, few := 0, 0
	tw := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for i := range s.Cases {
		this := &s.Cases[i]
		who := s.In(this.ID)
		if len(who) == 0 {
			continue
		}
		fmt.Fprintf(tw, "\n%s (%s)\t%s/s\tp50\tp99\tCPU ns\tallocs\tlog MiB\tbusy\tsamples\t", this.ID, this.Group, this.Unit)
		if len(s.Traces) > 0 {
			fmt.Fprint(tw, "calls\tsyncs\t")
		}
		fmt.Fprintln(tw)
		for _, contender := range who {
			list := s.Of(this.ID, contender.ID)
			if rows++; len(list) < figure.Samples {
				few++
			}
			printRow(tw, contender.ID, list)
			printTrace(tw, s.Trace(this.ID, contender.ID))
			fmt.Fprintln(tw)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "\n%d samples, %d failures in %s\n", len(s.Samples), len(s.Failures), path)
	c.closing(s, rows, few)
	return nil
}

// closing says how long the parts of a run took, and of how many rows the samples are few.
func (c *command) closing(s *result.Set, rows, few int) {
	if e := s.End; e != nil {
		fmt.Fprintf(c.stdout, "building the contenders took %s, making databases %s, measuring %s\n", seconds(e.Building), seconds(e.Making), seconds(e.Measuring))
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

func printRow(tw *tabwriter.Writer, name string, list []*result.Sample) {
	fmt.Fprintf(tw, "%s\t%.0f\t", name, median(list, (*result.Sample).Rate))
	if list[0].Latency.Timed >= figure.EnoughTimes {
		fmt.Fprintf(tw, "%.1f us\t%.1f us\t", median(list, func(m *result.Sample) float64 { return float64(m.Latency.P50) / 1e3 }),
			median(list, func(m *result.Sample) float64 { return float64(m.Latency.P99) / 1e3 }))
	} else {
		fmt.Fprint(tw, "\t\t")
	}
	fmt.Fprintf(tw, "%.0f\t%.1f\t%.1f\t%.0f\t%s\t", median(list, cpuPerOp), median(list, func(m *result.Sample) float64 { return of(m.Use.Allocs) / float64(m.Ops) }),
		median(list, func(m *result.Sample) float64 { return of(m.Log) / (1 << 20) }), median(list, func(m *result.Sample) float64 { return float64(m.Busy) }), figure.Count(len(list)))
}

// printTrace prints calls of the system for an operation, and those that sync among them.
func printTrace(tw *tabwriter.Writer, t *result.Trace) {
	if t == nil {
		return
	}
	all := int64(0)
	for _, n := range t.Calls {
		all += n
	}
	fmt.Fprintf(tw, "%.2f\t%.3f\t", float64(all)/float64(t.Ops), float64(t.Syncs())/float64(t.Ops))
}

func cpuPerOp(m *result.Sample) float64 {
	return (of(m.Use.UserSeconds) + of(m.Use.SystemSeconds)) * 1e9 / float64(m.Ops)
}

// of is a figure, or 0 where it is not known.
func of[T int64 | float64](p *T) float64 {
	if p == nil {
		return 0
	}
	return float64(*p)
}

func median(list []*result.Sample, figure func(*result.Sample) float64) float64 {
	var all []float64
	for _, m := range list {
		all = append(all, figure(m))
	}
	slices.Sort(all)
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}
