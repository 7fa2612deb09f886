package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A kind says how a kind of member works.
type kind struct {
	dir              string
	seats            int
	writers, readers int // of each seat
	python           bool
}

var kinds = []kind{
	{dir: "folio", seats: 2, writers: 8, readers: 2},
	{dir: "mattn", seats: 1, writers: 2, readers: 1},
	{dir: "modernc", seats: 1, writers: 2, readers: 1},
	{dir: "ncruces", seats: 1, writers: 2, readers: 1},
	{dir: "apsw", seats: 1, writers: 2, readers: 1, python: true},
}

// build builds the members' programs into dir. A program that cannot be built is skipped, with the
// reason.
func build(source, dir, only string) (members []*seat, skipped []string, err error) {
	for _, k := range kinds {
		if only != "" && !slices.Contains(strings.Split(only, ","), k.dir) {
			continue
		}
		argv, why := k.program(source, dir)
		if why != "" {
			if k.dir == "folio" {
				return nil, nil, fmt.Errorf("building %s: %s", k.dir, why)
			}
			skipped = append(skipped, k.dir+": "+why)
			continue
		}
		for i := range k.seats {
			name := k.dir
			if k.seats > 1 {
				name = fmt.Sprint(k.dir, i+1)
			}
			members = append(members, &seat{name: name, kind: k, argv: argv})
		}
	}
	return members, skipped, nil
}

// program returns how to start a member, or why it cannot be.
func (k *kind) program(source, dir string) (argv []string, why string) {
	if k.python {
		return python(filepath.Join(source, k.dir, "member.py"))
	}
	program := filepath.Join(dir, k.dir)
	cmd := exec.Command("go", "build", "-o", program, "./"+filepath.Join(source, k.dir))
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Sprintf("does not build: %v: %.300s", err, out)
	}
	return []string{program}, ""
}

// python returns how to start a script that needs the module apsw.
func python(script string) (argv []string, why string) {
	program := os.Getenv("FOLIO_PYTHON")
	if program == "" {
		program = "python3"
	}
	if out, err := exec.Command(program, "-c", "import apsw").CombinedOutput(); err != nil {
		return nil, fmt.Sprintf("no Python with the module apsw (pip install apsw; FOLIO_PYTHON names another Python): %v: %.200s", err, out)
	}
	return []string{program, script}, ""
}
