package claim

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Bench is a source in a Go benchmark that has both sides in it: they take turns in one process, round by round.
type Bench struct {
	Name    string
	Module  string // the directory of a module, from that of the project
	Package string // from there
	Pattern string
	Args    string // of the test program
	Quick   string // further ones in a quick run
}

// ID implements Source.
func (b *Bench) ID() string { return b.Name }

// Command is what does it by hand, in the directory of the project.
func (b *Bench) Command() string {
	return fmt.Sprintf("go -C %s test -run '^$' -bench '%s' %s %s", b.Module, b.Pattern, strings.ReplaceAll(b.Args, "-test.", "-"), b.Package)
}

func (b *Bench) measure(ctx context.Context, r *run) (*outcome, error) {
	rounds := r.Samples
	program := r.bin("claim-" + b.Name + ".test")
	built := false
	out, err := takeRounds(r.file(b.Name, ".txt"), rounds, func(round int) ([]byte, error) {
		if !built {
			r.tell(b.Name, "building", 0, 1)
			if err := goTool(ctx, filepath.Join(r.Project, b.Module), "test", "-c", "-o", program, b.Package); err != nil {
				return nil, err
			}
			built = true
		}
		r.tell(b.Name, b.Pattern, round-1, rounds)
		return b.round(ctx, r, program)
	})
	if err == nil {
		err = ctx.Err()
	}
	return out, err
}

// round runs the benchmarks once. What they make as temporary files lies on the file system that is measured.
func (b *Bench) round(ctx context.Context, r *run, program string) ([]byte, error) {
	dir, err := r.scratch()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	args := append([]string{"-test.run=^$", "-test.benchmem", "-test.timeout=1h", "-test.bench=" + b.Pattern}, strings.Fields(b.Args)...)
	if r.Quick {
		args = append(args, strings.Fields(b.Quick)...)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = filepath.Join(r.Project, b.Module, b.Package)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir.Path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", b.Command(), err, lastLines(text, stderr.Bytes()))
	}
	return text, nil
}

// lastLines is the end of what a program has printed.
func lastLines(outputs ...[]byte) string {
	text := string(bytes.TrimSpace(bytes.Join(outputs, nil)))
	return text[max(0, len(text)-maxReason):]
}

func goTool(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, oneLine(string(text)))
	}
	return nil
}
