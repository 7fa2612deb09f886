package bench

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// roleEnv is the variable that makes a process of this test do one side of a benchmark. Sides whose
// memory is measured, or that serve, have processes of their own.
const roleEnv = "FOLIO_BENCH_ROLE"

// roles are the sides, by name. Each takes the arguments of the command line.
var roles = map[string]func(args []string) error{
	"walk-files": walkFiles, "walk-folio": walkVolume, "check-folio": checkVolume, "check-sqlite": checkSQLite,
	"serve-files": serveFiles, "serve-folio": serveVolume,
}

// files is how many the large volumes have.
var files = flag.Int("files", 1_000_000, "how many files the large volumes have")

// quick makes the benchmarks of mounts small.
var quick = flag.Bool("quick", false, "small trees and files")

func TestMain(m *testing.M) {
	role, ok := os.LookupEnv(roleEnv)
	if !ok {
		os.Exit(m.Run())
	}
	err := roles[role](os.Args[1:])
	if err == nil {
		fmt.Println("done")
		_, err = io.Copy(io.Discard, os.Stdin) // until the memory has been looked at
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// process returns the command of a process that has a role.
func process(b *testing.B, role string, args ...string) *exec.Cmd {
	b.Helper()
	self, err := os.Executable()
	must(b, err)
	cmd := exec.Command(self, args...) // cleanups end it, after the context of the benchmark
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// must ends the benchmark if err is not nil.
func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
