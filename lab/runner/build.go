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
	"strings"
	"time"

	"golang.org/x/mod/modfile"
)

// A builder builds the programs of contenders into a cache.
type builder struct {
	contenders string // the directory of their modules
	cache      string
}

// dir is where the programs are kept: apart for each copy of the source, so that runs of different ones do not swap each other's
// programs.
func (b *builder) dir() string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(b.contenders)) // a hash takes everything
	return filepath.Join(b.cache, fmt.Sprintf("bin-%08x", h.Sum32()))
}

// build returns the program of a contender. Go's own cache makes it quick if nothing has changed. Programs of which the version
// was chosen are built with the tag pinned.
func (b *builder) build(ctx context.Context, s Spec) (p program, err error) {
	dir := filepath.Join(b.contenders, s.Name)
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return p, fmt.Errorf("no contender %s in %s", s.Name, b.contenders)
	}
	args := []string{"build"}
	if s.Version != "" {
		if dir, err = b.pin(ctx, dir, s); err != nil {
			return p, err
		}
		args = append(args, "-tags", "pinned")
	}
	p.path = filepath.Join(b.dir(), s.program()+exeSuffix)
	args = append(args, "-o", p.path, ".")
	if err = goTool(ctx, dir, nil, args...); err != nil && strings.Contains(err.Error(), "C compiler") {
		err = goTool(ctx, dir, []string{"CGO_ENABLED=0"}, args...) // those that need one say so themselves
	}
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), os.RemoveAll(p.path)) // it may be half written, which the go command would not notice
	}
	return p, err
}

// pin copies a contender's module and requires another version of its library there.
func (b *builder) pin(ctx context.Context, from string, s Spec) (dir string, err error) {
	dir = filepath.Join(b.dir(), "src", s.program())
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return "", err
	}
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		return "", err
	}
	module, err := anchor(filepath.Join(dir, "go.mod"), from)
	if err != nil {
		return "", err
	}
	if err := goTool(ctx, dir, nil, "get", module+"@"+s.Version); err != nil {
		return "", err
	}
	return dir, nil
}

// anchor makes the replacements of a go.mod absolute, so that it can lie elsewhere, and returns the contender's library: the
// first module that it requires for itself and does not replace.
func anchor(mod, from string) (library string, err error) {
	data, err := os.ReadFile(mod)
	if err != nil {
		return "", err
	}
	f, err := modfile.Parse(mod, data, nil)
	if err != nil {
		return "", err
	}
	replaced := make(map[string]bool)
	for _, r := range f.Replace {
		dir, err := filepath.Abs(filepath.Join(from, r.New.Path))
		if err == nil {
			err = f.AddReplace(r.Old.Path, r.Old.Version, dir, "")
		}
		if err != nil {
			return "", err
		}
		replaced[r.Old.Path] = true
	}
	if data, err = f.Format(); err != nil {
		return "", err
	}
	for _, r := range f.Require {
		if !r.Indirect && !replaced[r.Mod.Path] {
			return r.Mod.Path, os.WriteFile(mod, data, 0o666)
		}
	}
	if _, library, ok := strings.Cut(string(data), unpinned); ok {
		library, _, _ = strings.Cut(library, "\n")
		return strings.TrimSpace(library), os.WriteFile(mod, data, 0o666)
	}
	return "", errors.New("it drives no library of which there could be another version")
}

// unpinned is the comment by which a go.mod names a library that it does not require, because some registries refuse it.
const unpinned = "// library: "

// goTool runs the go command in a directory, with some more environment. Its error has what the command complained of, in one line.
func goTool(ctx context.Context, dir string, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	alone(cmd)
	cmd.Cancel = func() error { return interruptAll(cmd) } // it removes what it has in temporary directories
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
	return errors.New(oneLine(complaint(out)))
}

// complaint drops from the output of the go command what is not about a failure.
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

// oneLine is the beginning of a text, without line breaks.
func oneLine(out []byte) string {
	s := strings.Join(strings.Fields(string(out)), " ")
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason], "") + "..."
	}
	return s
}
