//go:build unix

package runner

import (
	"errors"
	"os/exec"
	"syscall"
)

// alone gives a process a group of its own. An interrupt from the keyboard reaches only the runner,
// which ends the process and its children.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killAll(cmd) }
}

// killAll kills a process with its group.
func killAll(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// interruptAll asks a process with its group to end.
func interruptAll(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }

// byInterrupt says whether a process was ended by an interrupt that was meant for the whole
// command. It stays in the command's group from its start until it sets its own.
func byInterrupt(err error) bool {
	var e *exec.ExitError
	if !errors.As(err, &e) {
		return false
	}
	status, ok := e.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGINT || status.Signal() == syscall.SIGTERM)
}
