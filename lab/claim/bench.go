package claim

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/foliofs/folio/lab/runner"
)

// A Bench is a source in a Go benchmark that has both sides in it: they take turns in one process,
// round by round.
type Bench struct {
	Name    string
	Module  string // the directory of a module, below the project
	Package string // from there
	Pattern string
	Args    string // of the test program
	Quick   string // further ones in a quick run
	// Everywhere says that the benchmark takes directories on the other file systems as well, in
	// the variable FOLIO_BENCH_DIRS.
	Everywhere bool
}

// ID implements Source.
func (b *Bench) ID() string { return b.Name }

// Command returns the command that runs the benchmark by hand, from the project's directory.
func (b *Bench) Command() string {
	return fmt.Sprintf("go -C %s test -run '^$' -bench '%s' %s %s", b.Module, b.Pattern, strings.ReplaceAll(b.Args, "-test.", "-"), b.Package)
}

func (b *Bench) measure(ctx context.Context, r *run) (*outcome, error) {
	rounds := r.Samples
	program := r.bin("claim-" + filepath.Base(b.Package) + ".test") // sources of one package share it
	built := false
	return takeRounds(ctx, r.file(b.Name, ".txt"), rounds, func(round int) ([]byte, error) {
		if !built {
			r.progress(b.Name, "building", 0, 1)
			if err := runner.GoTool(ctx, filepath.Join(r.Project, b.Module), nil, "test", "-c", "-o", program, b.Package); err != nil {
				return nil, err
			}
			built = true
		}
		r.progress(b.Name, b.Pattern, round-1, rounds)
		return b.round(ctx, r, program)
	})
}

// round runs the benchmarks once. It puts their temporary files on the file system that is
// measured.
func (b *Bench) round(ctx context.Context, r *run, program string) ([]byte, error) {
	dir, err := r.scratch()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	others := ""
	for _, d := range r.Dirs[1:] {
		if !b.Everywhere {
			break
		}
		s, err := runner.NewScratch(d)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		others += string(filepath.ListSeparator) + s.Path
	}
	args := append([]string{"-test.run=^$", "-test.benchmem", "-test.timeout=1h", "-test.bench=" + b.Pattern}, strings.Fields(b.Args)...)
	if r.Quick {
		args = append(args, strings.Fields(b.Quick)...)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = filepath.Join(r.Project, b.Module, b.Package)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir.Path, "FOLIO_BENCH_DIRS="+strings.TrimPrefix(others, string(filepath.ListSeparator)), "FOLIO_BENCH_POSTGRES="+r.Server)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", b.Command(), err, lastLines(text, stderr.Bytes()))
	}
	return text, nil
}

// lastLines returns the end of a program's output.
func lastLines(outputs ...[]byte) string {
	text := string(bytes.TrimSpace(bytes.Join(outputs, nil)))
	return text[max(0, len(text)-maxReason):]
}
