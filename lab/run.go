package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/lab/figure"
	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/runner"
	"github.com/foliofs/folio/lab/workload"
)

// runFlags are the flags of run, except the workloads' own.
type runFlags struct {
	quick, resume bool
	rounds        int
	dirs          []string
	contenders    []string
	out           string
	seed          uint64
	timeout       time.Duration
	postgres      string
	values        map[string]*string // by WORKLOAD.FLAG
}

// The defaults of a run, and of a quick one, which is for a first look.
const (
	defaultRounds  = figure.Samples
	quickRounds    = 2
	defaultTimeout = 10 * time.Minute
	quickTimeout   = time.Minute
)

const runLong = `Measures the named workloads, or all of them, with all contenders, and appends every sample to a file
of results. --resume continues an interrupted run.`

func (c *command) runCommand() *cobra.Command {
	f := &runFlags{values: make(map[string]*string)}
	cmd := &cobra.Command{
		Use: "run [WORKLOAD...]", Short: "Measure", Long: runLong,
		Example: `  go -C lab run . run --quick                                  # everything, small
  go -C lab run . run lookup write --dirs /mnt/ext4,/mnt/btrfs # on two file systems
  go -C lab run . run lookup --contenders engine,mattn,modernc@v1.35.0`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.measure(cmd, f, args) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.quick, "quick", false, "small sizes and few rounds: everything within 5 minutes, once the contenders are built")
	flags.IntVar(&f.rounds, "samples", defaultRounds, "samples of each figure; 2 in a quick run")
	flags.StringSliceVar(&f.dirs, "dirs", nil, "`directories` for the stores, one for each file system to measure; the user's cache directory by default")
	flags.StringSliceVar(&f.contenders, "contenders", nil, "NAME, NAME@VERSION or NAME:API, with commas between; all by default")
	flags.DurationVar(&f.timeout, "timeout", defaultTimeout, "how long a contender may take for a step; 1m in a quick run")
	f.common(cmd)
	flags.StringVar(&f.postgres, "postgres", "", "`address` of a PostgreSQL server, as postgres://user@host/database, which takes part then")
	for _, w := range workload.All() {
		for _, p := range w.Flags {
			name := w.Name + "." + p.Name
			f.values[name] = flags.String(name, p.Default, p.Usage)
		}
	}
	return cmd
}

// common adds the flags that run and query share.
func (f *runFlags) common(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.resume, "resume", false, "continue the last run that was interrupted, or --out")
	flags.StringVar(&f.out, "out", "", "`file` of results; results/TIME.jsonl by default")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of everything random")
}

func (c *command) measure(cmd *cobra.Command, f *runFlags, names []string) error {
	o, err := f.options(c, cmd, names)
	if err != nil {
		return err
	}
	if err := c.runLab(cmd.Context(), o); err != nil {
		return err
	}
	return c.summary(o.Out, false)
}

// runLab runs, and notes the kept samples if the run is interrupted.
func (c *command) runLab(ctx context.Context, o *runner.Options) error {
	p := c.newProgress()
	p.say("lab: programs go to %s, stores to %s while they are measured, results to %s", o.Cache, strings.Join(o.Dirs, ", "), cmp.Or(o.Out, o.Resume))
	o.Observer = p
	err := runner.Run(ctx, o)
	if ctx.Err() == nil {
		return err
	}
	if s, err := result.ReadFile(o.Out); err == nil {
		c.kept = fmt.Sprintf("; %d samples are kept in %s, and the same command with --resume continues", len(s.Samples), o.Out)
	}
	return err
}

// options makes the options of the runner.
func (f *runFlags) options(c *command, cmd *cobra.Command, names []string) (*runner.Options, error) {
	workloads, err := choose(names)
	if err != nil {
		return nil, err
	}
	o, err := f.base(c)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"dirs", "contenders"} {
		list, err := cmd.Flags().GetStringSlice(name)
		if err != nil || cmd.Flags().Changed(name) && len(list) == 0 || slices.Contains(list, "") {
			return nil, fmt.Errorf("--%s has an empty name in it; leave it out for the default", name)
		}
	}
	o.Workloads, o.Values = workloads, f.workloadValues(cmd, workloads)
	if f.quick && !cmd.Flags().Changed("samples") {
		o.Rounds = quickRounds
	}
	if f.quick && !cmd.Flags().Changed("timeout") {
		o.Timeout = quickTimeout
	}
	return o, nil
}

// base makes the options that do not depend on the workloads.
func (f *runFlags) base(c *command) (o *runner.Options, err error) {
	o = &runner.Options{
		Out: f.out, Rounds: f.rounds, Seed: f.seed, Quick: f.quick, Timeout: f.timeout, Server: f.postgres,
		Command: commandLine(c.args),
		Named:   len(f.contenders) > 0,
	}
	if o.Source, o.Cache, o.Dirs, err = c.places(f.dirs); err != nil {
		return nil, err
	}
	if o.Contenders, err = f.specs(o.Source); err != nil {
		return nil, err
	}
	return o, f.setOut(o)
}

// choose finds workloads by name; all of them if there are no names.
func choose(names []string) ([]*workload.Workload, error) {
	if len(names) == 0 {
		return workload.All(), nil
	}
	var list []*workload.Workload
	for _, name := range names {
		w, err := workload.Find(name)
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}

// workloadValues are the flags of the workloads. In a quick run those that were not set are
// smaller.
func (f *runFlags) workloadValues(cmd *cobra.Command, list []*workload.Workload) map[string]workload.Values {
	out := make(map[string]workload.Values)
	for _, w := range list {
		values := w.Defaults(f.quick)
		for name := range values {
			if flag := w.Name + "." + name; cmd.Flags().Changed(flag) {
				values[name] = *f.values[flag]
			}
		}
		out[w.Name] = values
	}
	return out
}

// specs are the contenders that were named, or all.
func (f *runFlags) specs(dir string) ([]runner.Spec, error) {
	if len(f.contenders) == 0 {
		return runner.All(dir)
	}
	return runner.ParseSpecs(f.contenders)
}

// resultsDir is where results go by default.
const resultsDir = "results"

// setOut chooses the file of results. It continues an existing file only with --resume.
func (f *runFlags) setOut(o *runner.Options) error {
	info, err := os.Stat(o.Out)
	switch {
	case o.Out == "" && f.resume:
		o.Resume = resultsDir
	case o.Out == "":
		o.Out = filepath.Join(resultsDir, time.Now().Format("20060102-150405")+".jsonl")
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s: not a file of results; choose another --out", o.Out)
	case !f.resume && err == nil:
		return fmt.Errorf("%s exists; --resume continues it, or choose another --out", o.Out)
	case f.resume && errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no such file; leave --resume out to start a run", o.Out)
	}
	return nil
}

// commandLine returns the command that does the same again, from the project's directory. It goes
// into the results, so it leaves out the password in the address of a server.
func commandLine(args []string) string {
	words := slices.Clone(args)
	for i, a := range words {
		if u, err := url.Parse(strings.TrimPrefix(a, "--postgres=")); err == nil && u.User != nil {
			words[i] = a[:strings.Index(a, u.Scheme+"://")] + u.Redacted()
		}
	}
	return result.ShellCommand(words)
}
