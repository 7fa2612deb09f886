package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2   // the command line makes no sense
	exitWorse       = 3   // compare: a row is worse
	exitInterrupted = 130 // the finished samples are kept
)

// A command is one invocation of the program.
type command struct {
	stdout, stderr io.Writer
	home           string // where the process started
	args           []string
	terminal       bool   // standard error is one
	started        bool   // past the command line: later errors are failures
	kept           string // the files that an interruption leaves, and how to go on
}

// run runs the program, which started in home, and returns its exit code.
func run(ctx context.Context, home string, args []string, stdout, stderr io.Writer) int {
	c := &command{home: home, stdout: stdout, stderr: stderr, args: args}
	if f, ok := stderr.(*os.File); ok {
		c.terminal = term.IsTerminal(int(f.Fd()))
	}
	root := c.root()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errWorse):
		return exitWorse
	case ctx.Err() != nil:
		fmt.Fprintf(stderr, "lab: interrupted%s\n", c.kept)
		return exitInterrupted
	}
	fmt.Fprintf(stderr, "lab: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	if !c.started {
		return exitUsage
	}
	return exitFailure
}

const rootLong = `The laboratory of Folio measures, on this machine and by the same rules for all, SQLite and files,
drivers of SQLite, raw and prepared statements, numbers of goroutines, and promises of durability.`

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use: "lab", Short: "Measures SQLite, its drivers, and files", Long: rootLong,
		Example: `  go -C lab run . list                      # contenders and workloads
  go -C lab run . run --quick               # everything, in a few minutes
  go -C lab run . run lookup --lookup.rows 1000000`,
		SilenceErrors: true, SilenceUsage: true, DisableAutoGenTag: true,
		PersistentPreRun: func(*cobra.Command, []string) { c.started = true },
	}
	root.AddCommand(c.listCommand(), c.runCommand(), c.queryCommand())
	root.AddCommand(c.reportCommand(), c.compareCommand(), c.claimsCommand())
	return root
}

// contendersIn finds the directory of the contenders. The directory home is lab, or the root of the
// project.
func contendersIn(home string) (string, error) {
	for _, dir := range []string{"contender", filepath.Join("lab", "contender")} {
		dir = filepath.Join(home, dir)
		if mains, _ := filepath.Glob(filepath.Join(dir, "*", "main.go")); len(mains) > 0 {
			return filepath.Abs(dir)
		}
	}
	return "", fmt.Errorf("%s: no contenders here; run this in a clone of the project: go -C lab run . ", home)
}

// places returns the directory of the contenders, the cache that keeps programs between runs, and
// the directories for stores, which are the cache unless the user names some.
func (c *command) places(named []string) (contenders, cache string, dirs []string, err error) {
	if contenders, err = contendersIn(c.home); err != nil {
		return "", "", nil, err
	}
	cache, err = os.UserCacheDir()
	cache = filepath.Join(cache, "folio-lab")
	if len(named) == 0 {
		named = []string{cache}
	}
	return contenders, cache, named, err
}
