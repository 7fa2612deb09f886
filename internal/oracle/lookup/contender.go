package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/foliofs/folio/internal/oracle/folder"
	"github.com/foliofs/folio/internal/oracle/lookup/bench"
)

// names are the directories of the contenders.
var names = []string{ours, "mattn", "crawshaw", "zombiezen"}

// A contender is a built program and how to call it.
type contender struct {
	name    string
	program string
	args    []string
	skipped string // why it takes no part
}

// build builds every contender into the cache. One that cannot be built is skipped with the reason.
func build(s settings) ([]*contender, error) {
	cache, err := folder.CacheDir()
	if err != nil {
		return nil, err
	}
	var all []*contender
	for _, name := range names {
		c := &contender{name: name, program: filepath.Join(cache, "lookup-"+name)}
		cmd := exec.Command("go", "build", "-o", c.program, ".")
		cmd.Dir = filepath.Join(s.dir, name)
		if out, err := cmd.CombinedOutput(); err != nil {
			c.skipped = fmt.Sprintf("does not build: %v: %s", err, oneLine(out))
		}
		all = append(all, c)
		if s.mmap && name != ours {
			all = append(all, &contender{name: name + "+mmap", program: c.program, args: []string{"-mmap", "1073741824"}, skipped: c.skipped})
		}
	}
	return all, nil
}

// run is one sample of one experiment in a fresh process.
func (c *contender) run(s settings, db string, e experiment) (*bench.Result, error) {
	args := append([]string{
		"-db", db, "-by", e.by, "-g", strconv.Itoa(e.goroutines), "-n", strconv.Itoa(s.reads),
		"-seed", strconv.FormatUint(s.seed, 10), "-rows", strconv.Itoa(s.rows),
	}, c.args...)
	var stderr bytes.Buffer
	cmd := exec.Command(c.program, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", c.name, err, oneLine(stderr.Bytes()))
	}
	var r bench.Result
	if err := json.Unmarshal(out, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	if r.Checked != s.reads {
		return nil, fmt.Errorf("%s: %d of %d answers checked", c.name, r.Checked, s.reads)
	}
	return &r, nil
}

// oneLine is the beginning of a program's complaint, without line breaks.
func oneLine(out []byte) string {
	s := strings.Join(strings.Fields(string(out)), " ")
	return s[:min(len(s), 300)]
}

// available tells whether the contender answers at all: a driver may build as a stub that refuses to open.
func (c *contender) available(s settings, db string) bool {
	if c.skipped == "" {
		s.reads = 10
		if _, err := c.run(s, db, experiments[0]); err != nil {
			c.skipped = err.Error()
		}
	}
	if c.skipped != "" {
		fmt.Fprintf(os.Stderr, "%s skipped: %s\n", c.name, c.skipped)
	}
	return c.skipped == ""
}
