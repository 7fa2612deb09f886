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

	"golang.org/x/mod/modfile"
)

// A builder builds the programs of contenders into a cache.
type builder struct {
	contenders string // the directory of their programs
	cache      string
}

// A program is started for a sample.
type program struct {
	path string
	args []string
}

// ownGraph are contenders that are built by a go.mod of their own, also if no version is chosen:
// other contenders would raise the version of the SQLite that their library was published with.
var ownGraph = []string{"glebarez", "gorm", "zombiezen"}

// dir is where the programs are kept: apart for each copy of the source, so that runs of different
// ones do not swap each other's programs.
func (b *builder) dir() string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(b.contenders)) // a hash takes everything
	return filepath.Join(b.cache, fmt.Sprintf("bin-%08x", h.Sum32()))
}

// build returns the program of a contender. Go's own cache makes it quick if nothing has changed.
func (b *builder) build(ctx context.Context, s Spec) (p program, err error) {
	dir := mains(b.contenders)[s.Name]
	if dir == "" {
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
	if p.path = filepath.Join(b.dir(), s.program()); runtime.GOOS == "windows" {
		p.path += ".exe"
	}
	args = append(args, "-o", p.path, ".")
	if err = GoTool(ctx, dir, nil, args...); err != nil && strings.Contains(err.Error(), "C compiler") {
		err = GoTool(ctx, dir, []string{"CGO_ENABLED=0"}, args...) // most contenders need none
	}
	if err != nil && strings.Contains(err.Error(), "build constraints exclude all Go files") {
		err = errors.New("no C compiler") // the files of drivers in C are constrained to cgo
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

// pin writes a go.mod with which the program in dir gets the version of its library that s names,
// or the one in the module's go.mod, and returns its path. That file requires only the modules that
// the program imports. So the library's version also selects the versions of its dependencies, and
// no other contender can raise them.
func (b *builder) pin(ctx context.Context, dir string, s Spec) (path string, err error) {
	mod, library, err := requirements(ctx, dir)
	if err != nil {
		return "", err
	}
	if library == "" {
		return "", errors.New("it drives no library of which there could be another version")
	}
	version := s.Version
	if r := providing(mod.Require, library); version == "" && r != nil {
		version = r.Mod.Version
	}
	if version == "" {
		return "", fmt.Errorf("choose a version, as %s@latest", s.Name)
	}
	path = filepath.Join(b.dir(), "mod", s.program()+".mod")
	if err := writeModFile(path, mod); err != nil {
		return "", err
	}
	return path, GoTool(ctx, dir, nil, "get", "-modfile="+path, library+"@"+version)
}

// requirements returns the go.mod of the program in dir without the requirements that no import of
// it needs, and the contender's library: the module of the first import that is not replaced; "" if
// it drives none. A library that go.mod does not require, because some registries refuse it, is
// named by its package.
func requirements(ctx context.Context, dir string) (mod *modfile.File, library string, err error) {
	path, err := goOutput(ctx, dir, nil, "env", "GOMOD")
	if err != nil {
		return nil, "", err
	}
	name := strings.TrimSpace(string(path))
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, "", err
	}
	if mod, err = modfile.Parse(name, text, nil); err != nil {
		return nil, "", err
	}
	const ownImports = "{{if .Module}}{{if .Module.Main}}{{range .Imports}}{{println .}}{{end}}{{end}}{{end}}"
	imports, err := goOutput(ctx, dir, []string{"CGO_ENABLED=1"}, "list", "-e", "-deps", "-f", ownImports, ".")
	if err != nil {
		return nil, "", err
	}
	var kept []*modfile.Require
	words := strings.Fields(string(imports))
	slices.Sort(words)
	for _, name := range words {
		if domain, _, _ := strings.Cut(name, "/"); !strings.Contains(domain, ".") || strings.HasPrefix(name, mod.Module.Mod.Path+"/") {
			continue // the standard library, and our own packages
		}
		found := name
		if r := providing(mod.Require, name); r != nil {
			found = r.Mod.Path
			if !slices.Contains(kept, r) {
				kept = append(kept, r)
			}
		}
		replaced := slices.ContainsFunc(mod.Replace, func(r *modfile.Replace) bool { return r.Old.Path == found })
		if library == "" && !replaced {
			library = found
		}
	}
	mod.SetRequireSeparateIndirect(kept)
	mod.Cleanup()
	return mod, library, nil
}

// providing returns the requirement with the longest path that begins the path of a package; nil if
// there is none.
func providing(list []*modfile.Require, name string) (found *modfile.Require) {
	for _, r := range list {
		within := name == r.Mod.Path || strings.HasPrefix(name, r.Mod.Path+"/")
		if within && (found == nil || len(r.Mod.Path) > len(found.Mod.Path)) {
			found = r
		}
	}
	return found
}

// writeModFile writes a go.mod to path, and next to it a copy of the original's go.sum.
func writeModFile(path string, mod *modfile.File) error {
	text, err := mod.Format()
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(strings.TrimSuffix(mod.Syntax.Name, ".mod") + ".sum")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(path, text, 0o666),
		os.WriteFile(strings.TrimSuffix(path, ".mod")+".sum", sums, 0o666),
	)
}

// GoTool runs the go command in a directory, with additional environment. Its error is the
// complaint of the command in one line.
func GoTool(ctx context.Context, dir string, env []string, args ...string) error {
	_, err := goOutput(ctx, dir, env, args...)
	return err
}

func goOutput(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	var complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	alone(cmd)
	cmd.Cancel = func() error { return interruptAll(cmd) } // it removes its temporary directories
	cmd.WaitDelay = 5 * time.Second
	cmd.Dir, cmd.Stderr = dir, &complaints
	cmd.Env = append(append(os.Environ(), "GOWORK=off", "GOFLAGS="), env...)
	out, err := cmd.Output()
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	var kept []byte
	for line := range bytes.Lines(complaints.Bytes()) {
		if !bytes.HasPrefix(line, []byte("go: downloading")) && !bytes.HasPrefix(line, []byte("#")) {
			kept = append(kept, line...)
		}
	}
	if len(kept) == 0 {
		return nil, err
	}
	return nil, errors.New(OneLine(kept))
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
