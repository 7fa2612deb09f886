package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/lab/report"
	"github.com/foliofs/folio/lab/result"
)

const reportLong = `Makes a page for a browser from files of results. For a directory, which is results by default, it
takes the newest file there. The page needs no network. Next to it are the samples in Go's benchmark
format, for benchstat.`

// pageName is the name of the page, and samplesName the name of the samples.
const pageName, samplesName = "report.html", "samples.txt"

func (c *command) reportCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "report [FILE|DIRECTORY...]", Short: "Make a page of results", Long: reportLong,
		Example: `  go -C lab run . report
  go -C lab run . report results/small.jsonl results/large.jsonl --out ~/report`,
		RunE: func(_ *cobra.Command, args []string) error { return c.report(args, out) },
	}
	cmd.Flags().StringVar(&out, "out", "", "`directory` for the page and its files; the name of the first file, without its extension, by default")
	return cmd
}

func (c *command) report(files []string, out string) error {
	if len(files) == 0 {
		files = []string{resultsDir}
	}
	files, err := expand(files)
	if err != nil {
		return err
	}
	var sets []*result.Set
	for _, name := range files {
		s, err := readResults(name)
		if err != nil {
			return err
		}
		sets = append(sets, s)
	}
	if out == "" {
		out = strings.TrimSuffix(files[0], filepath.Ext(files[0]))
		if out == files[0] {
			out += "-report"
		}
	}
	path, err := filepath.Abs(filepath.Join(out, pageName))
	if err != nil {
		return err
	}
	if err := writeReport(path, sets); err != nil {
		return fmt.Errorf("%w; choose another --out", err)
	}
	fmt.Fprintln(c.stdout, path)
	return nil
}

// writeReport writes the page, and the samples next to it.
func writeReport(path string, sets []*result.Set) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	page, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(report.Write(page, sets), page.Close()); err != nil {
		return err
	}
	samples, err := os.Create(filepath.Join(filepath.Dir(path), samplesName))
	if err != nil {
		return err
	}
	for _, s := range sets {
		err = errors.Join(err, report.WriteGoBench(samples, s))
	}
	return errors.Join(err, samples.Close())
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
