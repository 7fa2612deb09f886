package claim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/foliofs/folio/lab/runner"
)

// Commands is a source of whole commands, from their start to their end. In each word, $dir is a
// directory on the first file system, $goroot the Go distribution, and $folio the command of this
// project.
type Commands struct {
	Name   string
	Before []string // commands that prepare for all sides, once
	Sides  []Side
}

// A Side is one of the commands that are compared.
type Side struct {
	Name   string
	Before []string // commands that come before it in each round, untimed
	Run    string
	// Check is a command that runs afterwards, untimed. Its output, or the output of Run if there
	// is no Check, must have the same number of lines for all sides whose names differ in the last
	// element only. So all of them did the same.
	Check []string
}

// ID implements Source.
func (c *Commands) ID() string { return c.Name }

// A shop is where commands run.
type shop struct {
	ctx  context.Context
	vars map[string]string
}

func (c *Commands) measure(ctx context.Context, r *run) (_ *outcome, err error) {
	dir, err := r.scratch()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	rounds := r.Samples
	var s *shop
	return takeRounds(ctx, r.file(c.Name, ".txt"), rounds, func(round int) ([]byte, error) {
		if s == nil {
			r.progress(c.Name, "preparing", 0, 1)
			if s, err = c.open(ctx, r, dir.Path); err != nil {
				return nil, err
			}
		}
		return c.round(s, r, round, rounds)
	})
}

// open makes everything ready.
func (c *Commands) open(ctx context.Context, r *run, dir string) (*shop, error) {
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	s := &shop{ctx, map[string]string{"dir": dir, "goroot": strings.TrimSpace(string(goroot)), "folio": r.bin("claim-folio")}}
	command := filepath.Join(r.Project, "cmd", "folio")
	if err := runner.GoTool(ctx, command, nil, "build", "-o", s.vars["folio"], "."); err != nil {
		return nil, err
	}
	return s, s.all(c.Before)
}

// round lets each side run once, in an order that turns.
func (c *Commands) round(s *shop, r *run, round, rounds int) ([]byte, error) {
	var text []byte
	lines := make(map[string]int)
	for i := range c.Sides {
		side := &c.Sides[(i+round)%len(c.Sides)]
		r.progress(c.Name, side.Name, (round-1)*len(c.Sides)+i, rounds*len(c.Sides))
		took, n, err := s.side(side)
		if err != nil {
			return nil, err
		}
		if other, ok := lines[path.Dir(side.Name)]; ok && n != other {
			return nil, fmt.Errorf("%s: %s has %d lines to show, the other side %d", c.Name, side.Name, n, other)
		}
		lines[path.Dir(side.Name)] = n
		text = fmt.Appendf(text, "Benchmark%s%s/%s 1 %d ns/op\n", strings.ToUpper(c.Name[:1]), c.Name[1:], side.Name, took.Nanoseconds())
	}
	return text, nil
}

// side runs one, and counts the lines by which it is checked.
func (s *shop) side(side *Side) (took time.Duration, lines int, err error) {
	if err := s.all(side.Before); err != nil {
		return 0, 0, err
	}
	start := time.Now()
	lines, err = s.run(strings.Fields(side.Run))
	took = time.Since(start)
	if err == nil && side.Check != nil {
		lines, err = s.run(side.Check)
	}
	return took, lines, err
}

// all runs commands in their order.
func (s *shop) all(commands []string) error {
	for _, c := range commands {
		if _, err := s.run(strings.Fields(c)); err != nil {
			return err
		}
	}
	return nil
}

// run runs a command and counts the lines of its output and its complaints. They go to a file,
// because some programs stop early when no process reads their output.
func (s *shop) run(words []string) (lines int, err error) {
	words = slices.Clone(words)
	for i := range words {
		words[i] = os.Expand(words[i], func(name string) string { return s.vars[name] })
	}
	name := filepath.Join(s.vars["dir"], "out")
	out, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(s.ctx, words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	ran := cmd.Run()
	text, err := os.ReadFile(name)
	if err := errors.Join(err, out.Close()); err != nil {
		return 0, err
	}
	if ran != nil {
		return 0, fmt.Errorf("%s: %w: %s", filepath.Base(words[0]), ran, lastLines(text))
	}
	return bytes.Count(text, []byte("\n")), nil
}
