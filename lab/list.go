package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/lab/runner"
	"github.com/foliofs/folio/lab/workload"
)

func (c *command) listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List contenders and workloads", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return c.list() },
	}
}

func (c *command) list() error {
	dir, err := contendersIn(c.home)
	if err != nil {
		return err
	}
	specs, err := runner.All(dir)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, "Contenders (--contenders; any of them as NAME@VERSION too):")
	for _, s := range specs {
		fmt.Fprintf(c.stdout, "  %s\n", s)
	}
	fmt.Fprintln(c.stdout, "\nWorkloads, with their flags:")
	tw := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for _, w := range workload.All() {
		fmt.Fprintf(tw, "  %s\t\t\t%s\n", w.Name, w.Short)
		for _, f := range w.Flags {
			fmt.Fprintf(tw, "    --%s.%s\t%s\t%s\t%s\n", w.Name, f.Name, f.Default, quickly(f), f.Usage)
		}
	}
	return tw.Flush()
}

// quickly returns the value of a flag in a quick run, if that differs.
func quickly(f workload.Flag) string {
	if f.Quick == "" {
		return ""
	}
	return "(quick " + f.Quick + ")"
}
