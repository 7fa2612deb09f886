//go:build linux

// Package watchdog ends the connection of a FUSE mount when the process that serves it is killed.
//
// The kernel does so itself once no process holds the device open. But a process that is killed
// closes its files only after the last of its threads has ended, and a thread may be in the middle
// of a notice, with which the kernel is made to forget a content. Such a thread waits for a page
// that a program reads. The program waits for an answer, which nobody is left to give. Neither can
// be killed, and all other programs that use the mount wait as well.
//
// So a mount has a second process, the watchdog. It is the same program, started under another
// name: the init function of this package takes over, and main never runs. The watchdog has the
// file open by which a connection is ended, "abort" in the file system fusectl, and nothing else:
//
//	all threads of the daemon have ended ------> end of a pipe --\
//	the thread that started the watchdog ends -> a signal ---------> it writes to "abort"
//
// The pipe is not enough, because a thread that cannot be killed keeps the pipe open as it keeps
// the device. The signal comes from the kernel (PR_SET_PDEATHSIG) when a single thread ends, which
// does nothing but wait. The signal is not enough either: it is lost if it is sent before the
// watchdog is ready. Then no notice was sent yet, so the daemon ends, and the pipe with it.
package watchdog

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// name is the name under which the program is a watchdog. It is another one than the name of the
// program in it, so that killing all processes of that name leaves the watchdog to do its work.
const name = "mount-watchdog"

// The files that a watchdog inherits.
const (
	lifeFile  = iota // the end of this pipe is the end of the daemon
	abortFile        // what is written here ends the connection
	_
	readyFile // a byte here says that the watchdog is ready
)

// readyLimit is how long a watchdog may take to be ready. A program that embeds Go as a library
// never is, because it does not run the init function at its start.
const readyLimit = 10 * time.Second

var errNotReady = errors.New("the process did not start as one")

// Start starts a watchdog for the connection of a FUSE mount at a directory. The process that
// serves the mount calls it before it sends the first notice, and calls stop when the mount is
// gone. Start sends no request to the mount.
func Start(dir string) (stop func(), err error) {
	abort, err := openAbort(dir)
	if err != nil {
		return nil, fmt.Errorf("watchdog: %w", err)
	}
	defer abort.Close()
	life, end, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("watchdog: %w", err)
	}
	defer life.Close()
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{name, dir}, Dir: "/",
		Stdin: life, Stdout: abort,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	started, stopped, ended := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		keep(cmd, started, stopped)
	}()
	if err := <-started; err != nil {
		return nil, errors.Join(fmt.Errorf("watchdog: %w", err), end.Close())
	}
	return func() {
		close(stopped)
		<-ended
		_ = end.Close()
	}, nil
}

// keep starts the process, and ends it when the mount is gone. The process gets its signal if the
// thread of this goroutine ends before.
func keep(cmd *exec.Cmd, started chan<- error, stopped <-chan struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := start(cmd)
	started <- err
	if err == nil {
		<-stopped
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// start starts the process, and returns when it is ready.
func start(cmd *exec.Cmd) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd.ExtraFiles = []*os.File{w}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return err
	}
	_ = r.SetReadDeadline(time.Now().Add(readyLimit))
	if n, _ := r.Read(make([]byte, 1)); n == 0 {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return errNotReady
	}
	return nil
}

// openAbort opens the file that ends the connection of the mount at a directory. Where the file
// system fusectl is not mounted, root mounts it, for this process alone.
func openAbort(dir string) (*os.File, error) {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, dir, unix.AT_STATX_DONT_SYNC, 0, &st); err != nil { // the kernel answers this one
		return nil, os.NewSyscallError("statx", err)
	}
	file := fmt.Sprintf("%d/abort", unix.Mkdev(st.Dev_major, st.Dev_minor))
	f, err := os.OpenFile("/sys/fs/fuse/connections/"+file, os.O_WRONLY, 0)
	if err == nil {
		return f, nil
	}
	control, mountErr := mountControl()
	if mountErr != nil {
		return nil, err
	}
	defer unix.Close(control)
	fd, err := unix.Openat(control, file, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("openat", err)
	}
	return os.NewFile(uintptr(fd), file), nil
}

// mountControl mounts fusectl, in no directory.
func mountControl() (fd int, err error) {
	context, err := unix.Fsopen("fusectl", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(context)
	if err := unix.FsconfigCreate(context); err != nil {
		return -1, err
	}
	return unix.Fsmount(context, unix.FSMOUNT_CLOEXEC, 0)
}
