package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Exit codes. If a signal ends the command, it is 128 and the number of the signal.
const (
	exitOK      = 0
	exitFailure = 1 // something went wrong; one line on standard error says what
	exitUsage   = 2 // the command line makes no sense
	exitPartial = 3 // done, but some files could not be read; a line on standard error for each says so
)

// A command is one invocation of the program. Its output is buffered until it ends.
type command struct {
	stdin    io.Reader
	stdout   *bufio.Writer
	stderr   io.Writer
	terminal struct{ stdout, stderr bool }
	said     []string // lines of --verbose about changes that are not committed yet
	started  bool     // past the command line: an error now is no misuse
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// cleansUp is the annotation of commands that clean up when they are interrupted.
const cleansUp = "cleansUp"

// usageError names the help that would have helped.
func usageError(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
}

// between accepts from least to most arguments. A most below 0 means any number. what names them.
func between(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || most >= 0 && len(args) > most {
			return usageError(cmd, fmt.Errorf("expected %s, got %s", what, count(int64(len(args)), "argument", "arguments")))
		}
		return nil
	}
}

// plainHelp leaves -h to sizes.
func plainHelp(cmd *cobra.Command) {
	cmd.Flags().Bool("help", false, "help for "+cmd.Name())
}
