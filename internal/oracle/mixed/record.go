package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// A record is the log of a run: the reports of each member, and the commands to it, in the order in
// which the runner saw them.
type record struct {
	mu    sync.Mutex // guards the fields below
	file  *os.File
	w     *bufio.Writer
	start time.Time
}

func newRecord(name string) (*record, error) {
	f, err := os.Create(name)
	return &record{file: f, w: bufio.NewWriter(f), start: time.Now()}, err
}

func (r *record) write(member, line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.w, "%10.6f %-8s %s\n", time.Since(r.start).Seconds(), member, line)
}

func (r *record) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.w.Flush(), r.file.Close())
}

// A tally counts by name.
type tally struct {
	mu sync.Mutex // guards n
	n  map[string]int64
}

func (t *tally) add(name string, n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == nil {
		t.n = make(map[string]int64)
	}
	t.n[name] += n
}

func (t *tally) sum() (n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, v := range t.n {
		n += v
	}
	return n
}

func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t.n)) {
		fmt.Fprintf(&b, " %s %d", name, t.n[name])
	}
	return strings.TrimSpace(b.String())
}

// counts are the numbers of a run.
type counts struct {
	acks, busy, looks, kills tally // by member
	chores, modes, checks    tally // by kind
	storms                   int   // kills of all members at once
	amid                     int   // kills in the middle of a large transaction
	took                     time.Duration
}

func (c *counts) init(members []*seat) {
	for _, m := range members {
		for _, t := range []*tally{&c.acks, &c.busy, &c.looks, &c.kills} {
			t.add(m.name, 0)
		}
	}
}

func (c *counts) commits() int64 { return c.acks.sum() }

func (c *counts) line() string {
	return fmt.Sprintf("%d commits, %d snapshots, %d kills, %d checks, %d busy, modes: %s",
		c.acks.sum(), c.looks.sum(), c.kills.sum(), c.checks.sum(), c.busy.sum(), &c.modes)
}

// print writes the result.
func (r *ring) print(w io.Writer) {
	c := &r.counts
	fmt.Fprintf(w, "seed %d, pages of %d bytes, auto_vacuum %d, %v\n", r.seed, r.pageSize, r.vacuum, c.took.Round(time.Second))
	fmt.Fprintf(w, "commits    %8d: %s\n", c.acks.sum(), &c.acks)
	fmt.Fprintf(w, "snapshots  %8d: %s\n", c.looks.sum(), &c.looks)
	fmt.Fprintf(w, "kills      %8d: %s; %d times all at once, %d amid a large transaction\n", c.kills.sum(), &c.kills, c.storms, c.amid)
	fmt.Fprintf(w, "busy       %8d: %s\n", c.busy.sum(), &c.busy)
	fmt.Fprintf(w, "chores     %8d: %s\n", c.chores.sum(), &c.chores)
	fmt.Fprintf(w, "modes      %8d: %s\n", c.modes.sum(), &c.modes)
	fmt.Fprintf(w, "checks     %8d: %s\n", c.checks.sum(), &c.checks)
	for _, s := range r.skipped {
		fmt.Fprintf(w, "skipped: %s\n", s)
	}
}
