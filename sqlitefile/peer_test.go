package sqlitefile

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience is how long a test waits for something that takes milliseconds.
const patience = 20 * time.Second

// A peer is an sqlite3 shell that has a database open, in a process of its own.
type peer struct {
	tb    testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // what it prints
	marks int
}

// newPeer starts a shell. It ends with the test at the latest. Where there is no shell the test is
// skipped.
func newPeer(tb testing.TB, path string) *peer {
	tb.Helper()
	cmd := shellCommand(tb, path, "")
	cmd.Stdin = nil
	return startPeer(tb, cmd)
}

func startPeer(tb testing.TB, cmd *exec.Cmd) *peer {
	tb.Helper()
	p := &peer{tb: tb, cmd: cmd, lines: make(chan string, 1000)}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if p.in, err = cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	tb.Cleanup(p.kill)
	return p
}

// do runs statements and returns what they print, errors included.
func (p *peer) do(sql string) string {
	p.tb.Helper()
	return p.wait(p.send(sql))
}

// must runs statements that must print nothing but want.
func (p *peer) must(sql, want string) {
	p.tb.Helper()
	if got := p.do(sql); got != want {
		p.tb.Fatalf("sqlite3: %s\nprints %q, want %q", sql, got, want)
	}
}

// send lets the shell run statements, and returns the mark that it prints after them.
func (p *peer) send(sql string) (mark string) {
	p.tb.Helper()
	p.marks++
	if _, err := fmt.Fprintf(p.in, "%s;\nSELECT 'mark ' || %d;\n", sql, p.marks); err != nil {
		p.tb.Fatal(err)
	}
	return fmt.Sprint("mark ", p.marks)
}

// wait returns the lines that come before mark.
func (p *peer) wait(mark string) string {
	p.tb.Helper()
	var lines []string
	timeout := time.After(patience)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.tb.Fatalf("the other process ended: %q", lines)
			}
			if line == mark {
				return strings.Join(lines, "\n")
			}
			lines = append(lines, line)
		case <-timeout:
			p.tb.Fatalf("the other process does not answer; so far %q", lines)
		}
	}
}

// kill ends the shell as a crash would, and waits for it.
func (p *peer) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// quit ends the shell as it wants.
func (p *peer) quit() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}

const readerEnv = "FOLIO_READER_DATABASE"

// TestReaderProcess is not a test but the process that newReader starts: it reads without a pause
// until it is killed.
func TestReaderProcess(t *testing.T) {
	path := os.Getenv(readerEnv)
	if path == "" {
		t.Skip("only a process of other tests")
	}
	db, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		if err := db.View(context.Background(), countRows(new(int))); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		if n == 0 {
			fmt.Println("reading")
		}
	}
}

// newReader starts a process of this package that reads the database all the time.
func newReader(tb testing.TB, path string) *peer {
	tb.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestReaderProcess$")
	cmd.Env = append(os.Environ(), readerEnv+"="+path)
	p := startPeer(tb, cmd)
	p.wait("reading")
	return p
}

// countRows counts the rows of table t.
func countRows(n *int) func(rx *Rx) error {
	return func(rx *Rx) error {
		t, err := rx.Table("t")
		if err != nil {
			return err
		}
		*n = 0
		for _, err := range t.All() {
			if err != nil {
				return err
			}
			*n++
		}
		return nil
	}
}

// wantRows counts the rows of table t in a view of its own.
func wantRows(tb testing.TB, db *DB, want int) {
	tb.Helper()
	n := -1
	if err := db.View(context.Background(), countRows(&n)); err != nil || n != want {
		tb.Fatalf("%d rows, %v, want %d", n, err, want)
	}
}

// eventually waits for a condition of another process or goroutine, which it looks at again and
// again.
func eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(patience); !ok(); runtime.Gosched() {
		if time.Now().After(deadline) {
			tb.Fatalf("waited in vain until %s", what)
		}
	}
}
