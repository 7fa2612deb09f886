//go:build !unix

package runner

import (
	"os"
	"os/exec"
)

func alone(*exec.Cmd) {}

func killAll(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func interruptAll(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func peakMemory(*os.ProcessState) *int64 { return nil }

func byInterrupt(error) bool { return false }
