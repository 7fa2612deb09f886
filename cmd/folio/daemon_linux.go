package main

import (
	"context"
	"errors"
	"io"
	"log"
	"log/syslog"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
)

// readyFile is the pipe by which a daemon says that the volume is mounted.
const readyFile = 3

var errDaemonEnded = errors.New("the process in the background ended")

// startDaemon starts this program again, in a session of its own, and returns when it has mounted
// the volume. If it cannot, it says so itself on standard error.
func (m *mounter) startDaemon(ctx context.Context, volume string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd := &exec.Cmd{
		Path:   self,
		Args:   []string{"folio", "mount", "--daemon", "-o", strings.Join(m.options.words, ","), "--", m.loc.Volume, m.dir},
		Stdin:  strings.NewReader(volume), // every user can read arguments, and it may have a password
		Stderr: m.Stderr, ExtraFiles: []*os.File{w},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	n, _ := r.Read(make([]byte, 1))
	switch interrupted := !stop(); {
	case n == 1 && !interrupted:
		return cmd.Process.Release()
	case interrupted:
		_ = cmd.Wait()
		return context.Cause(ctx)
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState.Exited() {
		return errSilent
	}
	return failure.At(m.dir, errDaemonEnded)
}

// detached lets go of the terminal and of the working directory, and tells the process that waits
// that the volume is mounted.
func detached() error {
	if err := os.Chdir("/"); err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	for fd := range 3 {
		if err := unix.Dup3(int(null.Fd()), fd, 0); err != nil {
			return os.NewSyscallError("dup3", err)
		}
	}
	ready := os.NewFile(readyFile, "ready")
	_, err = ready.Write([]byte{1})
	return errors.Join(err, ready.Close(), null.Close())
}

// systemLogger writes to the log of the system, as a daemon has no standard error.
func systemLogger() *log.Logger {
	if l, err := syslog.NewLogger(syslog.LOG_DAEMON|syslog.LOG_WARNING, 0); err == nil {
		return l
	}
	return log.New(io.Discard, "", 0)
}
