package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/foliofs/folio/lab/figure"
	"github.com/foliofs/folio/lab/result"
)

// summarized are the figures that a summary shows.
var summarized = []string{"rate", "p50", "p99", "cpu", "allocs", "log", "busy"}

// summary prints the medians of a result file. The report says how far they can be trusted.
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
		fmt.Fprintf(tw, "\n%s (%s)\t", this.ID, this.Group)
		for _, name := range summarized {
			f, _ := figure.Find(name) // it is there
			fmt.Fprintf(tw, "%s\t", f.TitleOf(this.Unit))
		}
		fmt.Fprint(tw, "samples\t")
		fmt.Fprintln(tw)
		for _, contender := range who {
			list := s.Of(this.ID, contender.ID)
			if rows++; len(list) < figure.Samples {
				few++
			}
			fmt.Fprintf(tw, "%s\t", contender.ID)
			for _, name := range summarized {
				fmt.Fprintf(tw, "%s\t", medianOf(name, list))
			}
			fmt.Fprintf(tw, "%s\t", figure.Count(len(list)))
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

// medianOf writes the median of a figure; "" if it is not known.
func medianOf(name string, list []*result.Sample) string {
	f, err := figure.Find(name)
	if err != nil {
		return ""
	}
	e, ok := figure.Of(f.Values(list))
	if !ok {
		return ""
	}
	return f.Unit.Format(e.Median)
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
