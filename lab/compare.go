package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/lab/figure"
	"github.com/foliofs/folio/lab/result"
)

const compareLong = `Says of every contender in every case that two runs have in common whether the second run is better
or worse than the first, or no different. A row differs if the U test of Mann and Whitney tells its
samples apart, adjusted for the number of rows, and its medians differ by at least --min. For other statistics, give the output of
report --samples to benchstat.

The exit code is 0 if nothing is worse, 3 if a row is worse, 1 if the files cannot be compared, 2 for
a wrong command line.`

// errWorse says that a row is worse: no failure, but an exit code of its own.
var errWorse = errors.New("a row is worse")

// A comparison is how two runs are compared.
type comparison struct {
	figure *figure.Figure
	least  float64 // change of a median that counts, as a share of it
}

func (c *command) compareCommand() *cobra.Command {
	var name string
	var o comparison
	cmd := &cobra.Command{
		Use: "compare A B", Short: "Compare two runs", Long: compareLong,
		Example: `  go -C lab run . compare results/before.jsonl results/after.jsonl
  go -C lab run . compare results/before.jsonl results/after.jsonl --figure allocs --min 0.01`,
		Args: func(cmd *cobra.Command, args []string) (err error) {
			if o.figure, err = figure.Find(name); err != nil {
				return fmt.Errorf("--figure: %w", err)
			}
			if o.least < 0 {
				return fmt.Errorf("--min %v: it takes a share from 0, such as 0.05", o.least)
			}
			return cobra.ExactArgs(2)(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error { return c.compare(args, &o) },
	}
	cmd.Flags().StringVar(&name, "figure", "rate", "the `figure` to compare: rate, p50, p90, p99, max, cpu, allocs, alloc-bytes, memory, written, size, log, busy, warm-up")
	cmd.Flags().Float64Var(&o.least, "min", 0.05, "the least change that counts, as a share")
	return cmd
}

func (c *command) compare(files []string, o *comparison) error {
	files, err := expand(files)
	if err != nil {
		return err
	}
	a, err := readResults(files[0])
	if err != nil {
		return err
	}
	b, err := readResults(files[1])
	if err != nil {
		return err
	}
	rows := o.rows(a, b)
	if len(rows) == 0 {
		return fmt.Errorf("%s and %s have no case and contender in common; compare runs of the same command", files[0], files[1])
	}
	counts := make(map[figure.Verdict]int)
	tw := c.table()
	last := ""
	for _, row := range rows {
		if row.Case != last {
			fmt.Fprintf(tw, "\n%s\t%s, first\tsecond\tp\t\t\n", row.Case, o.figure.Name)
			last = row.Case
		}
		d := o.figure.Compare(row.a, row.b, o.least, len(rows))
		counts[d.Verdict]++
		fmt.Fprintf(tw, "%s\t%s\t%s\t%.3f\t%s\t\n", row.Contender, o.text(d.A), o.text(d.B), d.P, d)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "\n%d rows: %d no difference, %d better, %d worse\n", len(rows), counts[figure.Same], counts[figure.Better], counts[figure.Worse])
	if counts[figure.Worse] > 0 {
		return errWorse
	}
	return nil
}

// A comparedRow is a contender in a case, with its values in two runs.
type comparedRow struct {
	result.Cell
	a, b []float64
}

// rows lists the rows that both runs have.
func (o *comparison) rows(a, b *result.Set) (rows []comparedRow) {
	for i := range a.Cases {
		id := a.Cases[i].ID
		for _, who := range a.In(id) {
			row := comparedRow{result.Cell{Case: id, Contender: who.ID}, o.figure.Values(a.Of(id, who.ID)), o.figure.Values(b.Of(id, who.ID))}
			if len(row.a) > 0 && len(row.b) > 0 {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// text writes a median, and how far it can be trusted.
func (o *comparison) text(e figure.Estimate) string {
	return o.figure.Unit.Format(e.Median) + e.Spread()
}
