// Mixed lets processes of our engine and of every available driver of SQLite write and read one
// file, kills them at random, and checks that nothing is lost and nothing malformed (package bank
// has the conditions).
//
//	go -C internal/oracle run ./mixed -duration 60m
//	go -C internal/oracle run ./mixed -commits 1000000 -dir /dev/shm
//
// It prints counts and the seed, also of a run that is interrupted. If something is wrong it keeps
// the files and the log of all that happened, says where, and fails. The seed decides the layout of
// the database and the next action of each member, but not the order in which the system lets the
// members run.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	var s settings
	flag.DurationVar(&s.duration, "duration", time.Minute, "how long")
	flag.Int64Var(&s.commits, "commits", 0, "how many commits, rather than how long")
	flag.DurationVar(&s.kills, "kills", 200*time.Millisecond, "how often a member is killed; 0 for never")
	flag.DurationVar(&s.switches, "switches", time.Second, "how often the journal mode is to change; 0 for never")
	flag.Uint64Var(&s.seed, "seed", rand.Uint64N(1_000_000), "seed")
	flag.StringVar(&s.dir, "dir", os.TempDir(), "`directory` of the database, in a directory of its own")
	flag.StringVar(&s.source, "source", "mixed/member", "`directory` of the members' programs")
	flag.StringVar(&s.only, "only", "", "names of the `members`, separated by commas, if not all")
	flag.Parse()
	s.progress = os.Stderr
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := run(ctx, s)
	if r != nil {
		r.print(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mixed:", err)
		os.Exit(1)
	}
}
