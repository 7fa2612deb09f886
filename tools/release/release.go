package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// modulePath is the module that is released.
const modulePath = "github.com/foliofs/folio"

// allTargets are the systems for which there is a binary. docs/reference/limits.md says which of
// them run all tests, and which are only built.
var allTargets = []string{
	"linux/amd64", "linux/arm64", "linux/386", "darwin/amd64", "darwin/arm64", "windows/amd64", "freebsd/amd64",
}

// A target is a system that a binary is for.
type target struct{ system, arch string }

func parseTargets(list string) (targets []target, err error) {
	for text := range strings.SplitSeq(list, ",") {
		if !slices.Contains(allTargets, text) {
			return nil, fmt.Errorf("%s is none of the targets, which are %s", text, strings.Join(allTargets, ", "))
		}
		system, arch, _ := strings.Cut(text, "/")
		targets = append(targets, target{system, arch})
	}
	return targets, nil
}

// A release is made in a clone of its own.
type release struct {
	version string // as its tag is called: v0.1.0
	commit  string
	dir     string
	source  string // the clone
	dist    string // the files of the release
	staging string // the files that go into them
	made    time.Time
	author  string // of the commit, with an address
	targets []target
	env     []string // additional environment of the go command
}

// newRelease clones the commit, and tags it in the clone.
func newRelease(ctx context.Context, version, commit, dir string) (*release, error) {
	r := &release{version: version, dir: dir, source: filepath.Join(dir, "folio"), dist: filepath.Join(dir, "dist"), staging: filepath.Join(dir, "staging")}
	root, err := output(ctx, ".", nil, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	id, err := output(ctx, root, nil, "git", "rev-parse", "--verify", commit+"^{commit}")
	if err != nil {
		return nil, err
	}
	r.commit = id
	for _, d := range []string{r.dist, r.staging} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	for _, line := range [][]string{
		{"clone", "-q", "--no-checkout", root, r.source},
		{"-C", r.source, "-c", "advice.detachedHead=false", "checkout", "-q", id},
		{"-C", r.source, "tag", "-f", version},
	} {
		if _, err := output(ctx, root, nil, "git", line...); err != nil {
			return nil, err
		}
	}
	said, err := output(ctx, r.source, nil, "git", "log", "-1", "--format=%ct %an <%ae>")
	if err != nil {
		return nil, err
	}
	seconds, author, _ := strings.Cut(said, " ")
	r.author = author
	n, err := strconv.ParseInt(seconds, 10, 64)
	r.made = time.Unix(n, 0).UTC()
	return r, err
}

// number is the version without its v.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// make makes all files.
func (r *release) make(ctx context.Context) error {
	if err := r.writePages(ctx); err != nil {
		return err
	}
	for _, t := range r.targets {
		if err := r.build(ctx, t); err != nil {
			return fmt.Errorf("%s/%s: %w", t.system, t.arch, err)
		}
	}
	if err := r.writeProxy(); err != nil {
		return err
	}
	return r.writeSums()
}

// build makes the binary for a target, and the files that have it in them.
func (r *release) build(ctx context.Context, t target) error {
	binary := filepath.Join(r.staging, t.system+"_"+t.arch, "folio")
	if t.system == "windows" {
		binary += ".exe"
	}
	env := append([]string{"GOOS=" + t.system, "GOARCH=" + t.arch}, r.env...)
	if _, err := r.gotool(ctx, env, "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", binary, "./cmd/folio"); err != nil {
		return err
	}
	notices, err := r.notices(ctx, env)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(binary), noticesName), notices, 0o644); err != nil {
		return err
	}
	if err := r.writeComponents(t, binary); err != nil {
		return err
	}
	if err := r.writeArchive(t, binary); err != nil {
		return err
	}
	if t.system == "linux" {
		return r.writePackages(t, binary, r.number())
	}
	return nil
}

// gotool runs the go command in the clone.
func (r *release) gotool(ctx context.Context, env []string, args ...string) (string, error) {
	return output(ctx, r.source, append([]string{"CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off"}, env...), "go", args...)
}

// writeSums writes the checksums of all files.
func (r *release) writeSums() error {
	var text strings.Builder
	err := filepath.WalkDir(r.dist, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.dist, path)
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(content), filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dist, "SHA256SUMS"), []byte(text.String()), 0o644)
}

// output runs a program with additional environment, and returns its standard output.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s%s", name, strings.Join(args, " "), err, out, said.String())
	}
	return strings.TrimSpace(string(out)), nil
}
