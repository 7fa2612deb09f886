package main

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/lab/runner"
	"github.com/foliofs/folio/lab/workload"
)

const queryLong = `Runs your own statement on your own database with every driver, raw and prepared, with one and with
more goroutines. The statement must only read. Its arguments are the rows of another query, drawn at
random. All drivers must find the same rows.

The database is copied, together with its log, and the copy is removed afterwards: no driver opens yours.`

// queryFlags are the flags of query.
type queryFlags struct {
	runFlags
	statement         runner.Statement
	reads             int
	goroutines, modes []string
}

func (c *command) queryCommand() *cobra.Command {
	f := &queryFlags{}
	cmd := &cobra.Command{
		Use: "query --db FILE --query SQL [--args-from SQL]", Short: "Measure your own statement on your own database", Long: queryLong,
		Args: cobra.NoArgs,
		Example: `  go -C lab run . query --db ~/app.db --query 'SELECT name FROM user WHERE id = ?' \
      --args-from 'SELECT id FROM user'`,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.query(cmd, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.statement.DB, "db", "", "the database `file`; it is copied, and nothing else touches it")
	flags.StringVar(&f.statement.SQL, "query", "", "the statement, one that reads, with ? or a name for each argument")
	flags.StringVar(&f.statement.ArgsFrom, "args-from", "", "a `query` whose rows are arguments of the statement")
	flags.IntVar(&f.statement.Limit, "args", 1000, "how many rows of it are used")
	flags.IntVar(&f.reads, "reads", 20000, "runs of the statement in a sample")
	flags.StringSliceVar(&f.goroutines, "goroutines", sweep(), "goroutines, each with a connection of its own")
	flags.StringSliceVar(&f.modes, "mode", []string{"raw", "prepared"}, "raw, prepared")
	flags.IntVar(&f.rounds, "samples", defaultRounds, "samples of each figure")
	flags.StringSliceVar(&f.contenders, "contenders", nil, "as in run; all drivers by default")
	f.common(cmd)
	flags.DurationVar(&f.timeout, "timeout", time.Minute, "how long a contender may take for a step")
	for _, name := range []string{"db", "query"} {
		_ = cmd.MarkFlagRequired(name) // it is there
	}
	return cmd
}

// sweep is from one goroutine to four for each core.
func sweep() []string {
	var list []string
	for n := 1; n <= 4*runtime.NumCPU(); n *= 2 {
		list = append(list, strconv.Itoa(n))
	}
	return list
}

func (c *command) query(cmd *cobra.Command, f *queryFlags) error {
	if err := f.statement.Check(); err != nil {
		return err
	}
	values := workload.Values{
		"reads": strconv.Itoa(f.reads), "goroutines": strings.Join(f.goroutines, ","), "mode": strings.Join(f.modes, ","),
	}
	if _, err := workload.Query.Cases(values); err != nil {
		return fmt.Errorf("--%w", err)
	}
	o, err := f.base(c)
	if err != nil {
		return err
	}
	if len(f.contenders) == 0 {
		o.Contenders = slices.DeleteFunc(o.Contenders, func(s runner.Spec) bool { return !s.Driver() })
	}
	o.Workloads, o.Values = []*workload.Workload{workload.Query}, map[string]workload.Values{"query": values}
	o.Statement = &f.statement
	if err := c.runLab(cmd.Context(), o); err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, f.statement.SQL)
	return c.querySummary(o.Out)
}
