package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/lab/report"
	"github.com/foliofs/folio/lab/result"
)

const reportLong = `Prints the figures of a file of results: medians with 95% intervals, the contenders that are missing
with the reasons, and the command that measures each case alone. For a directory, which is results
by default, it takes the newest file there. --samples prints the samples in Go's benchmark format,
for benchstat.`

func (c *command) reportCommand() *cobra.Command {
	var samples bool
	cmd := &cobra.Command{
		Use: "report [FILE|DIRECTORY]", Short: "Print the figures of a run", Long: reportLong, Args: cobra.MaximumNArgs(1),
		Example: `  go -C lab run . report
  go -C lab run . report results/small.jsonl --samples >samples.txt`,
		RunE: func(_ *cobra.Command, args []string) error { return c.report(args, samples) },
	}
	cmd.Flags().BoolVar(&samples, "samples", false, "print the samples, for benchstat")
	return cmd
}

func (c *command) report(files []string, samples bool) error {
	if len(files) == 0 {
		files = []string{resultsDir}
	}
	files, err := expand(files)
	if err != nil {
		return err
	}
	if !samples {
		return c.summary(files[0], true)
	}
	s, err := readResults(files[0])
	if err != nil {
		return err
	}
	return report.WriteGoBench(c.stdout, s)
}

// readResults reads a result file for people.
func readResults(name string) (*result.Set, error) {
	s, err := result.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; go -C lab run . run makes some, in %s", err, resultsDir)
	}
	return s, err
}

// expand puts in the place of a directory the newest results in it.
func expand(files []string) (out []string, err error) {
	for _, name := range files {
		info, err := os.Stat(name)
		if name == resultsDir && errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
			if name, err = newest(name); err != nil {
				return nil, err
			}
		}
		out = append(out, name)
	}
	return out, nil
}

// newest is the file of results in a directory that was changed last, and has samples.
func newest(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	when := make(map[string]time.Time)
	var names []string
	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) == ".jsonl" && info.Mode().IsRegular() {
			name := filepath.Join(dir, e.Name())
			names, when[name] = append(names, name), info.ModTime()
		}
	}
	slices.SortFunc(names, func(a, b string) int { return when[b].Compare(when[a]) })
	for _, name := range names {
		if s, err := result.ReadFile(name); err != nil || len(s.Samples) > 0 {
			return name, nil
		}
	}
	return "", fmt.Errorf("%s: there are no results yet; go -C lab run . run makes some, or name a file of results", dir)
}
