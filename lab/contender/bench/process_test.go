package bench

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// roleEnv is the variable that makes a process of this test do one side of a benchmark. Sides whose
// memory is measured, or that serve, have processes of their own.
const roleEnv = "FOLIO_BENCH_ROLE"

// roles are the sides, by name. Each takes the arguments of the command line.
var roles = map[string]func(args []string) error{
	"walk-files": walkFiles, "walk-folio": walkVolume, "check-folio": checkVolume, "check-sqlite": checkSQLite,
	"serve-files": serveFiles, "serve-folio": serveVolume,
}

// files is how many the large volumes have.
var files = flag.Int("files", 1_000_000, "how many files the large volumes have")

// quick makes the benchmarks of mounts small.
var quick = flag.Bool("quick", false, "small trees and files")

func TestMain(m *testing.M) {
	role, ok := os.LookupEnv(roleEnv)
	if !ok {
		os.Exit(m.Run())
	}
	err := roles[role](os.Args[1:])
	if err == nil {
		fmt.Println("done")
		_, err = io.Copy(io.Discard, os.Stdin) // until the memory has been looked at
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// process returns the command of a process that has a role.
func process(b *testing.B, role string, args ...string) *exec.Cmd {
	b.Helper()
	self, err := os.Executable()
	must(b, err)
	cmd := exec.Command(self, args...) // cleanups end it, after the context of the benchmark
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// must ends the benchmark if err is not nil.
func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// A creator is a process that creates files when it is told to.
type creator struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startCreator starts a process that has a role, and waits until it is ready.
func startCreator(b *testing.B, role string, args ...string) (c *creator, err error) {
	c = &creator{cmd: process(b, role, args...)}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	return c, c.expect("ready")
}

// begin tells the process to work.
func (c *creator) begin() error {
	_, err := io.WriteString(c.in, "\n")
	return err
}

// expect waits until the process says a word.
func (c *creator) expect(word string) error {
	line, err := c.out.ReadString('\n')
	if err == nil && line != word+"\n" {
		err = fmt.Errorf("%q, want %q", line, word)
	}
	return err
}

// end ends the process.
func (c *creator) end() error { return errors.Join(c.in.Close(), c.cmd.Wait()) }

// built builds a program of a module, next to those of the laboratory.
func built(b *testing.B, name, module, pkg string) (path string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path = filepath.Join(cache, "folio-lab", "bin", "bench-"+name)
	_, err = command(b, module, "go", "build", "-o", path, pkg)
	return path, err
}

// command runs a program in a directory, and returns its output.
func command(b *testing.B, dir string, words ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(b.Context(), words[0], words[1:]...)
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, &stderr)
	}
	return out, err
}

// size is the full one, or the small one in a quick run.
func size(full, small int) int {
	if *quick {
		return small
	}
	return full
}
