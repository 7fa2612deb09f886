package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/internal/oracle/write/bench"
)

// A program is a contender that was built.
type program struct {
	path    string
	skipped string // why it takes no part
}

// build builds a contender into the cache, once. One that cannot be built is skipped with the reason.
func build(s settings, prefix, name string, programs map[string]*program) (*program, error) {
	if p := programs[name]; p != nil {
		return p, nil
	}
	p := &program{path: prefix + name}
	cmd := exec.Command("go", "build", "-o", p.path, ".")
	cmd.Dir = filepath.Join(s.dir, name)
	if out, err := cmd.CombinedOutput(); err != nil {
		p.skipped = fmt.Sprintf("does not build: %v: %s", err, oneLine(out))
		fmt.Fprintf(os.Stderr, "%s skipped: %s\n", name, p.skipped)
	}
	programs[name] = p
	return p, nil
}

// run is one sample in a fresh process and a fresh directory.
func (p *program) run(s settings, e experiment, c entry) (*bench.Result, error) {
	dir, err := os.MkdirTemp(s.store, "write-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var stderr bytes.Buffer
	cmd := exec.Command(p.path, append(append([]string{"-dir", dir}, strings.Fields(e.args)...), strings.Fields(c.args)...)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, oneLine(stderr.Bytes()))
	}
	var r bench.Result
	if err := json.Unmarshal(out, &r); err != nil {
		return nil, err
	}
	return &r, examine(filepath.Join(dir, "test.db"))
}

// examine lets C SQLite look at a database. What is none, or there is no C compiler to ask, passes.
func examine(path string) error {
	head := make([]byte, 16)
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) || !judge.Available {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Read(head)
	if err := errors.Join(err, f.Close()); err != nil || string(head) != "SQLite format 3\x00" {
		return err
	}
	conn, err := judge.Open(path)
	if err != nil {
		return err
	}
	lines, err := conn.Strings(context.Background(), "PRAGMA integrity_check")
	if err == nil && !slices.Equal(lines, []string{"ok"}) {
		err = fmt.Errorf("integrity_check: %s", strings.Join(lines, "; "))
	}
	return errors.Join(err, conn.Close())
}

// oneLine is the beginning of a program's complaint, without line breaks.
func oneLine(out []byte) string {
	s := strings.Join(strings.Fields(string(out)), " ")
	return s[:min(len(s), 300)]
}
