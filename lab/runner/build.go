package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A builder builds the programs of contenders into a cache.
type builder struct {
	contenders string // the directory of their modules
	cache      string
}

// dir is where the programs are kept: apart for each copy of the source, so that runs of different
// ones do not swap each other's programs.
func (b *builder) dir() string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(b.contenders)) // a hash takes everything
	return filepath.Join(b.cache, fmt.Sprintf("bin-%08x", h.Sum32()))
}

// path is where the program of a contender is kept.
func (b *builder) path(s Spec) string {
	path := filepath.Join(b.dir(), s.program())
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	return path
}

// build returns the program of a contender. Go's own cache makes it quick if nothing has changed.
func (b *builder) build(ctx context.Context, s Spec) (p program, err error) {
	dir, ok := contenderDir(b.contenders, s.Name)
	if !ok {
		return p, fmt.Errorf("no contender %s in %s", s.Name, b.contenders)
	}
	args := []string{"build"}
	if s.Version != "" || slices.Contains(ownGraph, s.Name) || outside(dir) {
		modFile, err := b.pin(ctx, dir, s)
		if err != nil {
			return p, err
		}
		args = append(args, "-modfile="+modFile, "-mod=mod")
	}
	p.path = b.path(s)
	args = append(args, "-o", p.path, ".")
	if err = GoTool(ctx, dir, nil, args...); err != nil && strings.Contains(err.Error(), "C compiler") {
		err = GoTool(ctx, dir, []string{"CGO_ENABLED=0"}, args...) // those that need one say so themselves
	}
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), os.RemoveAll(p.path)) // it may be half written, which the go command would not notice
	}
	return p, err
}

// outside reports whether a program is in no pattern of packages: go.mod does not require its
// library.
func outside(dir string) bool {
	return strings.HasPrefix(filepath.Base(filepath.Dir(dir)), "_")
}

// GoTool runs the go command in a directory, with additional environment. Its error has the
// command's complaint in one line.
func GoTool(ctx context.Context, dir string, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	alone(cmd)
	cmd.Cancel = func() error { return interruptAll(cmd) } // it removes its temporary directories
	cmd.WaitDelay = 5 * time.Second
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOWORK=off", "GOFLAGS="), env...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(out) == 0 {
		return err
	}
	return errors.New(OneLine(complaint(out)))
}

// complaint drops the lines of the go command's output that are not about a failure.
func complaint(out []byte) []byte {
	var kept []byte
	for line := range bytes.Lines(out) {
		if !bytes.HasPrefix(line, []byte("go: downloading")) && !bytes.HasPrefix(line, []byte("#")) {
			kept = append(kept, line...)
		}
	}
	return kept
}

// maxReason is the longest reason that is kept.
const maxReason = 300

// OneLine is the beginning of a text, without line breaks.
func OneLine(out []byte) string {
	s := strings.Join(strings.Fields(string(out)), " ")
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason], "") + "..."
	}
	return s
}

// A program is started for a sample.
type program struct {
	path string
	args []string
}
