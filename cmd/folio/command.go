package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foliofs/folio/cmd/folio/internal/terminal"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// Exit codes. If a signal ends the command, it is 128 and the number of the signal.
const (
	exitOK      = 0
	exitFailure = 1 // something went wrong; one line on standard error says what
	exitUsage   = 2 // the command line makes no sense
	exitPartial = 3 // done, but some files could not be read; a line on standard error for each says so
)

// Errors that end a command without a line on standard error. The command has written what to say.
var (
	errSilent  = errors.New("failed")
	errPartial = errors.New("some files could not be read")
)

// A command is one invocation of the program.
type command struct {
	terminal.Streams
	started bool // past the command line: an error now is no misuse
}

// cleansUp is the annotation of commands that clean up when they are interrupted.
const cleansUp = "cleansUp"

// writes is the annotation of commands that change a volume. A signal rolls their transaction back,
// and they remove the files next to the volume.
var writes = map[string]string{cleansUp: "yes"}

// usageError names the help that would have helped.
func usageError(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
}

// between accepts from least to most arguments. A most below 0 means any number. what names them.
func between(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || most >= 0 && len(args) > most {
			return usageError(cmd, fmt.Errorf("expected %s, got %s", what, value.Count(int64(len(args)), "argument", "arguments")))
		}
		return nil
	}
}

// plainHelp leaves -h to sizes.
func plainHelp(cmd *cobra.Command) {
	cmd.Flags().Bool("help", false, "help for "+cmd.Name())
}

// writingCommand is the frame of a command that changes files of volumes.
func writingCommand(use, short, long, example string, args cobra.PositionalArgs) *cobra.Command {
	return &cobra.Command{
		Annotations: writes, Use: use, Short: short, Long: long, Example: example, Args: args,
		ValidArgsFunction: completeLocation,
	}
}

// createFlag lets a command make the volume that it writes to.
func createFlag(flags *pflag.FlagSet, create *bool) {
	flags.BoolVar(create, "create", false, "make the volume if there is none")
}
