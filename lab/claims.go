package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/lab/claim"
	"github.com/foliofs/folio/lab/figure"
)

const claimsLong = `Measures the claims of the README and the documents about speed, all of them or the named ones, and
says whether each holds. The figures go to results/claims.json; with --write also to docs/claims.json,
from which go -C lab test ./claim -update makes the tables and charts of the documents.`

// claimsFlags are the flags of claims.
type claimsFlags struct {
	quick, resume, write, list bool
	samples                    int
	dirs                       []string
	out, postgres              string
	timeout                    time.Duration
}

// quickSamples is how many a quick run takes.
const quickSamples = 2

func (c *command) claimsCommand() *cobra.Command {
	f := &claimsFlags{}
	cmd := &cobra.Command{
		Use: "claims [NAME...]", Short: "Measure what the documents claim", Long: claimsLong,
		Example: `  go -C lab run . claims --list
  go -C lab run . claims get find            # two rows
  go -C lab run . claims mount               # a part of the documents: volumes that are mounted
  go -C lab run . claims --quick             # everything, small
  go -C lab run . claims --dirs /data,/mnt/btrfs --write`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.claims(cmd, f, args) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.list, "list", false, "list them, and measure nothing")
	flags.BoolVar(&f.quick, "quick", false, "small sizes, 2 samples: to see that everything works")
	flags.BoolVar(&f.resume, "resume", false, "continue the last measurement, if that was interrupted or had other names")
	flags.IntVar(&f.samples, "samples", figure.Samples, "samples of each figure")
	flags.StringSliceVar(&f.dirs, "dirs", nil, "`directories`: everything is measured on the first; some claims also use a btrfs among them")
	flags.StringVar(&f.postgres, "postgres", "", "`address` of a database of PostgreSQL for claims of volumes on a server, in place of a server that the run starts")
	flags.DurationVar(&f.timeout, "timeout", defaultTimeout, "how long a contender may take for a step")
	flags.StringVar(&f.out, "out", resultsDir, "`directory` for the figures, and in it claims for the samples")
	flags.BoolVar(&f.write, "write", false, "write the figures to docs/claims.json, for the documents")
	return cmd
}

func (c *command) claims(cmd *cobra.Command, f *claimsFlags, names []string) error {
	found, err := claim.Find(names)
	if err != nil {
		return err
	}
	if f.list {
		return c.listClaims(found)
	}
	if f.write && (f.quick || len(names) > 0) {
		return fmt.Errorf("--write takes neither names nor --quick: the documents show the figures of one whole run")
	}
	o, err := f.options(c, cmd, found)
	if err != nil {
		return err
	}
	o.Watch = c.newProgress()
	c.kept = fmt.Sprintf("; the samples are kept in %s, and the same command with --resume continues", o.Out)
	r, err := claim.Measure(cmd.Context(), o)
	if err != nil {
		return err
	}
	path := filepath.Join(f.out, "claims.json")
	if err := r.WriteFile(path); err != nil {
		return err
	}
	if err := c.showClaims(r, found, path); err != nil || !f.write {
		return err
	}
	return r.Publish(o.Project)
}

func (f *claimsFlags) options(c *command, cmd *cobra.Command, found []*claim.Claim) (*claim.Options, error) {
	o := &claim.Options{
		Claims: found, Samples: f.samples, Quick: f.quick, Resume: f.resume, Timeout: f.timeout,
		Out: filepath.Join(f.out, "claims"), Command: commandLine(c.args), Server: f.postgres,
	}
	if f.quick && !cmd.Flags().Changed("samples") {
		o.Samples = quickSamples
	}
	var contenders string
	var err error
	contenders, o.Cache, o.Dirs, err = c.places(f.dirs)
	o.Project = filepath.Dir(filepath.Dir(contenders))
	return o, err
}

func (c *command) listClaims(found []*claim.Claim) error {
	tw := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for _, row := range claim.Rows {
		for _, one := range row.In(found) {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", row.Name, one.Name, asked(one), row.What)
		}
	}
	return tw.Flush()
}

// showClaims prints the verdicts.
func (c *command) showClaims(r *claim.Report, found []*claim.Claim, path string) error {
	counts, few := make(map[claim.Verdict]int), 0
	tw := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "claim\tasked\tmeasured\t95% interval\tsamples\tverdict\tbeside")
	for _, one := range found {
		res := r.Result(one.Name)
		counts[res.Verdict]++
		if res.Figure == nil {
			fmt.Fprintf(tw, "%s\t%s\t\t\t\t%s\t%s\n", one.Name, asked(one), res.Verdict, res.Reason)
			continue
		}
		if res.Samples < figure.Samples {
			few++
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s to %s\t%s\t%s\t%s\n", one.Name, asked(one), short(res.Figure.Value), short(res.Figure.Low), short(res.Figure.High), figure.Count(res.Samples), res.Verdict, res.Peer)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "\n%d hold, %d fall short, %d have no goal, %d were not measured; in %s\n",
		counts[claim.Holds], counts[claim.Short], counts[claim.NoGoal], counts[claim.Unmeasured], path)
	if few > 0 {
		fmt.Fprintf(c.stdout, "%d figures are made of fewer than %d samples: good for factors, not for percents\n", few, figure.Samples)
	}
	if r.Quick {
		fmt.Fprintln(c.stdout, "These are figures of small sizes, which say little of the goals.")
	}
	return nil
}

// asked is the goal of a claim.
func asked(c *claim.Claim) string {
	switch {
	case c.Asked == nil:
		return ""
	case c.Kind == claim.Faster:
		return ">= " + short(*c.Asked)
	}
	return "<= " + short(*c.Asked)
}

// short writes a figure with three digits.
func short(f float64) string { return strconv.FormatFloat(f, 'g', 3, 64) }
