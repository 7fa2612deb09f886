//go:build !unix

package runner

import "os/exec"

func alone(*exec.Cmd) {}

func killAll(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func interruptAll(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func byInterrupt(error) bool { return false }
