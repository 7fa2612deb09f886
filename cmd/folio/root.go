package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/interrupt"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/terminal"
)

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &command{Streams: terminal.New(stdin, stdout, stderr)}
	c.Hidden = location.Hiding(args)
	return c.execute(ctx, c.root(), findArgs(args))
}

// execute runs a command line and returns the exit code.
func (c *command) execute(ctx context.Context, root *cobra.Command, args []string) int {
	root.SetArgs(args)
	root.SetOut(c.Stdout)
	root.SetErr(c.Stderr)
	err := cmp.Or(root.ExecuteContext(ctx), c.noHelp)
	if flushed := c.Stdout.Flush(); flushed != nil && (err == nil || errors.Is(err, errSilent)) {
		err = failure.OfOutput(flushed)
	}
	return c.finish(ctx, err)
}

func (c *command) finish(ctx context.Context, err error) int {
	code := exitFailure
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	switch interrupted := interrupt.Of(ctx, err); {
	case err == nil:
		return exitOK
	case errors.Is(err, errSilent):
		return exitFailure
	case errors.Is(err, errPartial):
		return exitPartial
	case errors.Is(err, errNotCompared):
		return exitTrouble
	case interrupt.ReaderGone(err) || interrupted != nil && interrupt.ReaderGone(interrupted):
		return (&interrupt.Error{Signal: syscall.SIGPIPE}).ExitCode()
	case interrupted != nil:
		err, code = interrupted, interrupted.ExitCode()
	case !c.started:
		code = exitUsage
	}
	if e, ok := errors.AsType[*troubleError](err); ok {
		err, code = e.error, exitTrouble
	}
	c.Complain(failure.Message(err))
	return code
}

const rootLong = `Folio keeps a directory tree in one file, a volume: an ordinary SQLite database.

A path in a volume is written VOLUME:PATH, as in photos.folio:2026/may; VOLUME alone
is its root. A volume whose own name holds a colon works too: what names a file that is there
is the volume, and the rest, after a colon, is the path in it. VOLUME@NAME is a snapshot.

Exit codes: 0 all went well, 1 something did not, 2 the command line makes no sense,
3 done, but some files could not be read, or extended attributes not written.`

const rootExample = `  folio import ~/photos photos.folio        # a directory, tar, zip or SQLite archive into a volume
  folio ls -l photos.folio:2026             # look into it
  folio cat photos.folio:2026/notes.txt     # read a file
  folio put new.jpg photos.folio:2026       # change it: put, get, cp, mkdir, rm, mv, ln, chmod, touch
  folio export photos.folio restored        # and all of it back`

// root returns the command with all its subcommands.
func (c *command) root() *cobra.Command {
	this := thisVersion()
	root := &cobra.Command{
		Use:               "folio",
		Short:             "A directory tree in one SQLite database file",
		Long:              rootLong,
		Example:           rootExample,
		Version:           this.String(),
		Args:              c.unknownCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRun:  c.start,
		DisableAutoGenTag: true,
	}
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", "{{if and .Runnable .HasParent}}", 1))
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().BoolP("version", "v", false, "tell the version in one line; with most commands, -v means --verbose")
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveDefault)
	root.SetHelpFunc(c.help(root.HelpFunc()))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError(cmd, err) })
	addGroup(root, "Volumes:", c.createCommand(), c.importCommand(), c.exportCommand(), c.convertCommand(), c.syncCommand(),
		c.backupCommand(), c.compactCommand(), c.checkCommand(), c.infoCommand(), c.gcCommand())
	addGroup(root, "Files, to read:", c.lsCommand(), c.treeCommand(), c.catCommand(), c.statCommand(), c.duCommand(),
		c.findCommand(), c.grepCommand(), c.diffCommand(), c.getCommand(), c.sqlCommand())
	addGroup(root, "Files, to change:", c.putCommand(), c.cpCommand(), c.mkdirCommand(), c.rmCommand(), c.mvCommand(),
		c.lnCommand(), c.chmodCommand(), c.touchCommand())
	addGroup(root, "Snapshots:", c.snapshotCommand(), c.restoreCommand(), c.logCommand())
	addGroup(root, "Mounts and servers:", c.mountCommand(), c.unmountCommand(), c.mountsCommand(), c.overlayCommand(), c.serveCommand(), c.linksCommand())
	root.SetHelpCommand(c.helpCommand())
	addGroup(root, "This program:", c.versionCommand())
	root.SetHelpCommandGroupID("This program:")
	root.SetCompletionCommandGroupID("This program:")
	completeFlags(root)
	return root
}

// addGroup adds commands that the help lists together, below a title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, cmd := range commands {
		cmd.GroupID = title
	}
	root.AddCommand(commands...)
}

func (c *command) start(cmd *cobra.Command, _ []string) {
	c.started = true
	if cmd.Annotations[cleansUp] == "" {
		interrupt.LetKill(cmd.Context())
	}
}
