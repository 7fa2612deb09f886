package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/mountpoint"
	"github.com/foliofs/folio/cmd/folio/internal/overlay"
	"github.com/foliofs/folio/mount"
)

// An exitError ends this program with the exit code of the program that it ran.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprint("exit code ", e.code) }

const overlayRunLong = `Mount an overlay at a new temporary directory, run COMMAND in it, and unmount it. VOLUME keeps what COMMAND
changes; it is made if there is none. A volume that keeps changes already goes on with them, with the
base that it tells. The exit code is that of COMMAND.

COMMAND gets the directory as its working directory, and in $FOLIO_OVERLAY. Nothing keeps it from
changing files elsewhere. Running works on Linux, with FUSE. Users other than root need fusermount3, of
the package fuse3.`

func (c *command) overlayRunCommand() *cobra.Command {
	var base string
	cmd := writingCommand("run [--base TREE] VOLUME COMMAND [ARG]...", "Run a command on an overlay",
		overlayRunLong,
		`  folio overlay run --base src changes.folio make -j4
  folio overlay run --base go.folio@release changes.folio sh -c 'cd src && ./make.bash'
  folio overlay run changes.folio sh`,
		between(2, -1, "VOLUME and COMMAND"))
	cmd.ValidArgsFunction = nil // files on disk
	cmd.Flags().SetInterspersed(false)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		words := args[1:]
		if words[0] == "--" {
			words = words[1:]
		}
		if len(words) == 0 {
			return usageError(cmd, errors.New("expected VOLUME and COMMAND"))
		}
		if err := mountpoint.Able(); err != nil {
			return err
		}
		o, err := overlay.Open(args[0], base, true)
		if err != nil {
			return err
		}
		err = c.runMounted(cmd.Context(), o, words)
		if closed := o.Close(); err == nil {
			err = failure.At(args[0], closed)
		}
		return err
	}
	baseFlag(cmd, &base)
	return cmd
}

var errLeftRunning = errors.New("is in use by programs that the command has left; it is served until they are done")

// runMounted mounts the overlay, and runs a command in it.
func (c *command) runMounted(ctx context.Context, o *overlay.Overlay, words []string) error {
	dir, err := os.MkdirTemp("", "folio-overlay-")
	if err != nil {
		return err
	}
	defer os.Remove(dir)
	real, err := mountpoint.Resolve(dir)
	if err != nil {
		return err
	}
	if o.Base.HasIn(real) {
		return failure.Hint(failure.At(real, overlay.ErrInBase), "set TMPDIR to a directory outside of "+o.Base.Name)
	}
	name := o.Path
	if !location.OnServer(name) {
		if name, err = filepath.Abs(name); err != nil {
			return err
		}
	}
	server, err := mount.MountOverlay(o.Overlay, real, &mount.Options{Name: name, Daemon: true, Logger: log.New(c.Stderr, "folio: warning: ", 0)})
	if err != nil {
		return failure.Hint(failure.At(real, err), "without the right to mount, "+mountpoint.OtherWay)
	}
	err = runIn(ctx, real, words)
	if server.Unmount() != nil {
		c.Warn(failure.Rehint(failure.At(real, errLeftRunning), "a signal ends it"))
		if detached := mountpoint.Detach(real, mountpoint.Lazily); detached != nil {
			return errors.Join(err, detached)
		}
		done := make(chan struct{})
		go func() { server.Wait(); close(done) }()
		select {
		case <-done:
		case <-ctx.Done():
		}
	}
	return err
}

// runIn runs a command in a directory of a mount that this process serves. It starts this program
// again, which enters the directory and becomes the command: a process that starts another one in
// its own mount could wait for itself.
func runIn(ctx context.Context, dir string, words []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := &exec.Cmd{
		Path: self, Args: append([]string{"folio", "overlay", "enter", dir}, words...),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	defer stop()
	err = cmd.Wait()
	ended, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !ok:
		return err
	}
	if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return &exitError{128 + int(status.Signal())}
	}
	return &exitError{ended.ExitCode()}
}

// overlayEnterCommand becomes another program, in a directory.
func (c *command) overlayEnterCommand() *cobra.Command {
	cmd := newCommand("enter DIR COMMAND [ARG]...", "Become a command in a directory", "", "", between(2, -1, "DIR and COMMAND"))
	cmd.Hidden = true
	cmd.Flags().SetInterspersed(false)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dir, words := args[0], args[1:]
		if err := os.Chdir(dir); err != nil {
			return err
		}
		program, err := exec.LookPath(words[0])
		if err != nil {
			return failure.Rehint(failure.At(words[0], commandFailure(err)), "")
		}
		env := append(os.Environ(), "PWD="+dir, "FOLIO_OVERLAY="+dir)
		return failure.At(program, syscall.Exec(program, words, env))
	}
	return cmd
}

// commandFailure returns the cause of an error of exec.LookPath.
func commandFailure(err error) error {
	if e, ok := errors.AsType[*exec.Error](err); ok {
		return e.Err
	}
	return err
}
