package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/terminal"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// Exit codes. If a signal ends the command, it is 128 and the number of the signal.
const (
	exitOK      = 0
	exitFailure = 1 // something went wrong; one line on standard error says what
	exitUsage   = 2 // the command line makes no sense
	exitPartial = 3 // done, but some files could not be read, or attributes written; a line on standard error for each says so
)

// Errors that end a command without a line on standard error: the command has written one.
var (
	errSilent  = errors.New("failed")
	errPartial = errors.New("some files could not be read")
)

// A command is one invocation of the program.
type command struct {
	terminal.Streams
	started bool  // past the command line: an error now is no misuse
	noHelp  error // there is no help about the topic
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
			return usageError(cmd, fmt.Errorf("expected %s, got %s", what, value.Count(int64(len(args)), "argument", "arguments")))
		}
		return nil
	}
}

// unknownCommand refuses arguments of a command that has subcommands: the first one was meant to be
// one of them.
func (c *command) unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	for _, sub := range cmd.Commands() {
		if slices.Contains(sub.SuggestFor, args[0]) {
			return fmt.Errorf("unknown command %q; did you mean %s?", args[0], sub.Name())
		}
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("unknown command %q; did you mean %s?", args[0], strings.Join(near, " or "))
	}
	help := "folio help"
	if cmd.HasParent() {
		help += " " + cmd.Name()
	}
	return fmt.Errorf("unknown command %q; %s lists them", args[0], help)
}

// plainHelp leaves -h to sizes.
func plainHelp(cmd *cobra.Command) {
	cmd.Flags().Bool("help", false, "help for "+cmd.Name())
}

// newCommand is the frame of a command whose operands are files, on disk or in a volume.
func newCommand(use, short, long, example string, args cobra.PositionalArgs) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: args, ValidArgsFunction: completeLocation,
	}
}

// writingCommand is the frame of a command that cleans up when it is interrupted. If it changes
// files in a volume, a signal rolls its transaction back.
func writingCommand(use, short, long, example string, args cobra.PositionalArgs) *cobra.Command {
	cmd := newCommand(use, short, long, example, args)
	cmd.Annotations = map[string]string{cleansUp: "yes"}
	return cmd
}

// newGroup is the frame of a command that only has subcommands.
func (c *command) newGroup(use, short, long, example string, subcommands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: c.unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(subcommands...)
	return cmd
}

// list writes one of several things as a line for people or, if asJSON is set, as an object for
// programs. Stdout keeps an error, which ends the program when it flushes.
func (c *command) list(asJSON bool, object any, format string, args ...any) {
	if asJSON {
		_ = value.WriteJSON(c.Stdout, object)
	} else {
		fmt.Fprintf(c.Stdout, format, args...)
	}
}

// onVolume is for a command whose one operand is a whole volume, a file on disk.
func onVolume(cmd *cobra.Command, run func(ctx context.Context, loc location.Location) error) {
	cmd.ValidArgsFunction = nil
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		loc, err := location.WholeVolume(args[0])
		if err != nil {
			return err
		}
		return run(cmd.Context(), loc)
	}
}

// changeVolume opens a volume for a command that makes or removes snapshots, or goes back to one.
func (c *command) changeVolume(ctx context.Context, loc location.Location, fn func(v *folio.Volume) error) error {
	volume := loc.Volume
	if err := location.HasSnapshots(volume); err != nil {
		return err
	}
	v, err := loc.Open()
	if err != nil {
		return err
	}
	err = fn(v.Volume)
	if closed := location.CloseVolume(&c.Streams, v); err == nil {
		err = failure.At(volume, closed)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, folio.ErrReadOnly):
		return loc.ReadOnly(err)
	case errors.Is(err, folio.ErrFull):
		return failure.Hint(failure.At(volume, err), failure.NothingChanged)
	}
	return failure.At(volume, err)
}

// viewEach calls fn for each operand, in a view of its volume.
func viewEach(ctx context.Context, args []string, fn func(loc location.Location, rx *folio.Rx) error) error {
	for _, arg := range args {
		loc := location.Parse(arg)
		if err := loc.View(ctx, func(rx *folio.Rx) error { return fn(loc, rx) }); err != nil {
			return err
		}
	}
	return nil
}

// createFlag lets a command make the volume that it writes to.
func createFlag(flags *pflag.FlagSet, create *bool) {
	flags.BoolVar(create, "create", false, "make the volume if there is none")
}

// replaceFlags say which file a new volume may take the place of.
func replaceFlags(r *location.Replacing, flags *pflag.FlagSet, name string) {
	flags.BoolVarP(&r.Force, "force", "f", false, "replace "+name+" if it is a volume, or empty")
	flags.BoolVar(&r.ForceAny, "force-any", false, "replace "+name+" whatever file it is, such as the database of another program")
}
