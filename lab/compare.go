package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/lab/compare"
	"github.com/foliofs/folio/lab/report/figure"
)

const compareLong = `Says of every contender in every case that two runs have in common whether the second run is faster
or slower than the first, or no different. A difference is one that the U test of Mann and Whitney
finds in the samples, adjusted for the number of rows. It must be at least --min, and more than the
runs differ between their own halves.

The exit code is 0 if nothing is worse, 3 if a row is worse, 1 if the files cannot be compared, 2 for
a wrong command line.`

// errWorse says that a row is worse: no failure, but an exit code of its own.
var errWorse = errors.New("a row is worse")

func (c *command) compareCommand() *cobra.Command {
	var name string
	var asJSON bool
	o := compare.Options{}
	cmd := &cobra.Command{
		Use: "compare A B", Short: "Compare two runs", Long: compareLong,
		Example: `  go -C lab run . compare results/before.jsonl results/after.jsonl
  go -C lab run . compare results/before.jsonl results/after.jsonl --figure allocs --min 0.01`,
		Args: func(cmd *cobra.Command, args []string) (err error) {
			if o.Figure, err = figure.Find(name); err != nil {
				return fmt.Errorf("--figure: %w", err)
			}
			if o.Min < 0 {
				return fmt.Errorf("--min %v: it takes a share from 0, such as 0.05", o.Min)
			}
			return cobra.ExactArgs(2)(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error { return c.compare(args[0], args[1], &o, asJSON) },
	}
	var names []string
	for _, f := range figure.All {
		names = append(names, f.Name)
	}
	cmd.Flags().StringVar(&name, "figure", "rate", "the figure to compare: "+strings.Join(names, ", "))
	cmd.Flags().Float64Var(&o.Min, "min", compare.DefaultMin, "the least change that counts, as a share")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

func (c *command) compare(first, second string, o *compare.Options, asJSON bool) error {
	names, err := expand([]string{first, second})
	if err != nil {
		return err
	}
	first, second = names[0], names[1]
	a, err := readResults(first)
	if err != nil {
		return err
	}
	b, err := readResults(second)
	if err != nil {
		return err
	}
	all := compare.Compare(a, b, o)
	if len(all.Rows) == 0 {
		reason := ""
		if len(all.Left) > 0 {
			reason = " (" + all.Left[0] + ")"
		}
		return fmt.Errorf("%s and %s have no case and contender in common%s; compare runs of the same command", first, second, reason)
	}
	if asJSON {
		e := json.NewEncoder(c.stdout)
		e.SetIndent("", "  ")
		err = e.Encode(all)
	} else {
		err = c.printComparison(all, o)
	}
	if err == nil && all.Counts[compare.Down] > 0 {
		return errWorse
	}
	return err
}

func (c *command) printComparison(all *compare.Comparison, o *compare.Options) error {
	tw := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	last := ""
	for i := range all.Rows {
		row := &all.Rows[i]
		if row.Case != last {
			fmt.Fprintf(tw, "\n%s\t%s, first\tsecond\tp\t\t\n", row.Case, o.Figure.Name)
			last = row.Case
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t\n", row.Contender, estimate(row.A, o.Figure.Unit), estimate(row.B, o.Figure.Unit), probability(row), row.Text)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, list := range [][]string{all.Left, all.Warnings} {
		for i, line := range list {
			if i == 0 {
				fmt.Fprintln(c.stdout)
			}
			fmt.Fprintln(c.stdout, line)
		}
	}
	fmt.Fprintf(c.stdout, "\n%s\n%s\n", all.Method(), all.Summary())
	return nil
}

// estimate is a median with its interval, or without one where samples are too few for it.
func estimate(e figure.Estimate, u figure.Unit) string {
	if !e.Interval {
		return u.Format(e.Median)
	}
	return fmt.Sprintf("%s [%s, %s]", u.Format(e.Median), u.Format(e.Lo), u.Format(e.Hi))
}

func probability(row *compare.Row) string {
	if row.Few {
		return ""
	}
	return figure.FormatP(row.Adjusted)
}
