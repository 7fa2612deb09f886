//go:build cgo

package main

import (
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"
)

var (
	duration = flag.Duration("duration", 15*time.Second, "how long the members work")
	seed     = flag.Uint64("seed", 0, "seed; 0 for a random one")
)

// TestMixed is a short run of the command. It needs the go command, to build the members.
func TestMixed(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command to build the members with")
	}
	s := settings{
		duration: *duration, kills: 200 * time.Millisecond, switches: time.Second, seed: *seed,
		dir: os.TempDir(), source: "member", progress: t.Output(),
	}
	if s.seed == 0 {
		s.seed = rand.Uint64N(1_000_000)
	}
	r, err := run(t.Context(), s)
	if r != nil {
		r.print(t.Output())
	}
	if err != nil {
		t.Fatal(err)
	}
	if ours := r.counts.acks.n["folio1"] + r.counts.acks.n["folio2"]; ours == 0 || ours == r.counts.commits() {
		t.Errorf("%d of %d commits are ours", ours, r.counts.commits())
	}
}
