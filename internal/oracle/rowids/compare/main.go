// Compare times a million random rowids from standard input: the program rowids beside the sqlite3 shell, which gets
// them as statements within one transaction. It compares what both print, byte for byte.
//
//	go -C internal/oracle run ./rowids/compare
//
// The timing is hyperfine's where it is installed, and the program's own otherwise. The commands are printed, to be run
// by hand.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/foliofs/folio/internal/oracle/folder"
	"github.com/foliofs/folio/internal/oracle/folder/paths"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// A command is a program with a file as its standard input.
type command struct {
	name  string
	args  []string
	stdin string
}

// shell is the command as a line for a shell.
func (c command) shell() string {
	s := ""
	for _, a := range c.args {
		s += quote(a) + " "
	}
	return s + "< " + quote(c.stdin)
}

func quote(s string) string {
	return "'" + string(bytes.ReplaceAll([]byte(s), []byte("'"), []byte(`'\''`))) + "'"
}

func run() error {
	rows := flag.Int("rows", 1_000_000, "rows in the database")
	count := flag.Int("n", 1_000_000, "random rowids")
	runs := flag.Int("runs", 10, "runs of each")
	seed := flag.Uint64("seed", 1, "seed of the paths")
	shell := flag.String("sqlite3", "sqlite3", "the sqlite3 shell")
	flag.Parse()

	db, err := folder.Cached(*rows, *seed)
	if err != nil {
		return fmt.Errorf("making the database needs C SQLite: %w", err)
	}
	dir, err := os.MkdirTemp("", "folio-rowids-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ours, theirs, err := prepare(dir, db, *shell, *rows, *count)
	if err != nil {
		return err
	}
	if err := sameOutput(ours, theirs, *count); err != nil {
		return err
	}
	fmt.Printf("%s\n%s\nboth print the same %d rows\n", ours.shell(), theirs.shell(), *count)
	figures, err := measure(dir, *runs, ours, theirs)
	if err != nil {
		return err
	}
	a, b := figures[0], figures[1]
	fmt.Printf("%s %.3f s, %s %.3f s (medians of %d): %.1f times faster\n",
		ours.name, a.seconds, theirs.name, b.seconds, *runs, b.seconds/a.seconds)
	fmt.Printf("processor time %.3f s, %.3f s (means): %.1f times less\n", a.cpu, b.cpu, b.cpu/a.cpu)
	return nil
}

// A figure is what a command took.
type figure struct {
	seconds float64 // the median
	cpu     float64 // processor time, the mean
}

// prepare builds our program and writes both inputs.
func prepare(dir, db, shell string, rows, count int) (ours, theirs command, err error) {
	program := filepath.Join(dir, "rowids")
	if out, err := exec.Command("go", "build", "-o", program, "./rowids").CombinedOutput(); err != nil {
		return ours, theirs, fmt.Errorf("%w: %s", err, out)
	}
	var ids, sql bytes.Buffer
	sql.WriteString("BEGIN;\n")
	r := paths.Rand(42)
	for range count {
		id := 1 + r.Next()%uint64(rows)
		fmt.Fprintf(&ids, "%d\n", id)
		fmt.Fprintf(&sql, "SELECT id, path FROM folder_paths WHERE id = %d;\n", id)
	}
	sql.WriteString("COMMIT;\n")
	ours = command{"rowids", []string{program, db}, filepath.Join(dir, "rowids.txt")}
	theirs = command{"sqlite3", []string{shell, "-batch", "-readonly", db}, filepath.Join(dir, "rowids.sql")}
	if err := os.WriteFile(ours.stdin, ids.Bytes(), 0o600); err != nil {
		return ours, theirs, err
	}
	return ours, theirs, os.WriteFile(theirs.stdin, sql.Bytes(), 0o600)
}

// output runs the command and returns what it printed and the processor time that it took.
func (c command) output() (out []byte, cpu float64, err error) {
	in, err := os.Open(c.stdin)
	if err != nil {
		return nil, 0, err
	}
	defer in.Close()
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Stdin, cmd.Stderr = in, os.Stderr
	if out, err = cmd.Output(); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", c.name, err)
	}
	return out, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), nil
}

func sameOutput(ours, theirs command, count int) error {
	a, _, err := ours.output()
	if err != nil {
		return err
	}
	b, _, err := theirs.output()
	if err != nil {
		return err
	}
	if n := bytes.Count(a, []byte{'\n'}); !bytes.Equal(a, b) || n != count {
		return fmt.Errorf("the outputs differ: %d and %d bytes, %d lines of %d", len(a), len(b), n, count)
	}
	return nil
}

// measure times the commands, in turns if it does so itself.
func measure(dir string, runs int, commands ...command) ([]figure, error) {
	if _, err := exec.LookPath("hyperfine"); err == nil {
		return hyperfine(filepath.Join(dir, "hyperfine.json"), runs, commands)
	}
	fmt.Println("hyperfine is not installed: timed by this program")
	samples := make([][]float64, len(commands))
	figures := make([]figure, len(commands))
	for range runs {
		for i, c := range commands {
			start := time.Now()
			_, cpu, err := c.output()
			if err != nil {
				return nil, err
			}
			samples[i] = append(samples[i], time.Since(start).Seconds())
			figures[i].cpu += cpu / float64(runs)
		}
	}
	for i, s := range samples {
		slices.Sort(s)
		figures[i].seconds = (s[(len(s)-1)/2] + s[len(s)/2]) / 2
	}
	return figures, nil
}

// hyperfine times the commands by the program of that name, which shows its own report.
func hyperfine(report string, runs int, commands []command) ([]figure, error) {
	args := []string{"--warmup", "1", "--runs", strconv.Itoa(runs), "--export-json", report}
	for _, c := range commands {
		args = append(args, "--command-name", c.name, c.shell())
	}
	cmd := exec.Command("hyperfine", args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("hyperfine: %w", err)
	}
	data, err := os.ReadFile(report)
	if err != nil {
		return nil, err
	}
	var r struct {
		Results []struct{ Median, User, System float64 }
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, err
	}
	var figures []figure
	for _, res := range r.Results {
		figures = append(figures, figure{res.Median, res.User + res.System})
	}
	return figures, nil
}
