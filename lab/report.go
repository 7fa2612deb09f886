package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/lab/report"
	"github.com/foliofs/folio/lab/result"
)

const reportLong = `Makes of files of results, the newest in results if none is named, a page for a browser: it needs no
network. Beside it stand the samples of each file as CSV, as JSON and in Go's benchmark format.`

func (c *command) reportCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "report [FILE...]", Short: "Make a page of results", Long: reportLong,
		Example: `  go -C lab run . report
  go -C lab run . report results/small.jsonl results/large.jsonl --out ~/report`,
		RunE: func(_ *cobra.Command, args []string) error { return c.report(args, out) },
	}
	cmd.Flags().StringVar(&out, "out", "", "`directory` for the page and what stands beside it; that of the first file, without its extension, by default")
	return cmd
}

func (c *command) report(files []string, out string) error {
	if len(files) == 0 {
		last, err := newest()
		if err != nil {
			return err
		}
		files = []string{last}
	}
	inputs, err := readInputs(files)
	if err != nil {
		return err
	}
	if out == "" {
		out = strings.TrimSuffix(files[0], filepath.Ext(files[0]))
		if out == files[0] {
			out += "-report"
		}
	}
	if err := report.New(time.Now(), inputs).Write(out); err != nil {
		return err
	}
	path, err := filepath.Abs(filepath.Join(out, report.PageName))
	if err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, path)
	return nil
}

// readInputs reads result files. Their names without directory and extension name what stands beside the page, so each must be another.
func readInputs(files []string) (inputs []report.Input, err error) {
	var bases []string
	for _, name := range files {
		s, err := result.ReadFile(name)
		if err != nil {
			return nil, err
		}
		base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
		for slices.Contains(bases, base) {
			base += "-2"
		}
		bases = append(bases, base)
		inputs = append(inputs, report.Input{Base: base, Set: s})
	}
	return inputs, nil
}

// newest is the file of results that was changed last.
func newest() (string, error) {
	names, err := filepath.Glob(filepath.Join(resultsDir, "*.jsonl"))
	if err != nil {
		return "", err
	}
	var last string
	var when time.Time
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.ModTime().After(when) {
			last, when = name, info.ModTime()
		}
	}
	if last == "" {
		return "", errors.New("there are no results yet; go -C lab run . run makes some")
	}
	return last, nil
}
