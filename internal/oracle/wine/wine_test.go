package wine_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/sqlitefile"
)

var (
	member = flag.String("wine.member", "", "member.exe, the program of directory member built for Windows; WINEPREFIX says where Wine runs it")
	native = flag.String("wine.native", "", "the same program, built for this system")
	turns  = flag.Int("wine.turns", 40, "how many turns TestTurns takes in each mode, and how many rows each side of TestTogether inserts")
)

// A side is a running member.
type side struct {
	name  string
	t     *testing.T
	in    io.WriteCloser
	out   *bufio.Scanner
	under string // what the path has before it there
}

// start runs the program as an engine: "ours" or "c".
func start(t *testing.T, engine string, underWine bool) *side {
	t.Helper()
	s := &side{name: engine, t: t}
	cmd := exec.Command(*native, engine)
	if underWine {
		cmd, s.under, s.name = exec.Command("wine", *member, engine), "Z:", engine+" on Windows"
	}
	cmd.Env = append(os.Environ(), "WINEDEBUG=-all")
	cmd.Stderr = os.Stderr
	var err error
	if s.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewScanner(out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = s.in.Close(), cmd.Wait() })
	return s
}

// ask sends a command, and do waits for its answer.
func (s *side) ask(format string, args ...any) { fmt.Fprintf(s.in, format+"\n", args...) }

func (s *side) answer() string {
	if !s.out.Scan() {
		s.t.Fatalf("%s is gone", s.name)
	}
	return strings.TrimSpace(s.out.Text())
}

func (s *side) do(want, format string, args ...any) {
	s.t.Helper()
	s.ask(format, args...)
	if got := s.answer(); got != want {
		s.t.Fatalf("%s: %s: %q, want %q", s.name, fmt.Sprintf(format, args...), got, want)
	}
}

func create(t *testing.T, mode sqlitefile.JournalMode) string {
	t.Helper()
	if *member == "" || *native == "" {
		t.Skip("skipped: no program for Windows (-wine.member, -wine.native)")
	}
	path := filepath.Join(t.TempDir(), "t.db")
	db, err := sqlitefile.Open(path, &sqlitefile.Options{Create: true, JournalMode: mode})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(t.Context(), "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(t.Context(), "CREATE INDEX u ON t(b)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

var modes = map[string]sqlitefile.JournalMode{"rollback": sqlitefile.JournalDelete, "wal": sqlitefile.JournalWAL}

// TestTurns lets four programs write one file in turn, each opening it anew: Wine emulates locks,
// so that those of the two systems do not see each other.
func TestTurns(t *testing.T) {
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			path := create(t, mode)
			sides := []*side{start(t, "ours", true), start(t, "c", false), start(t, "c", true), start(t, "ours", false)}
			for turn := range *turns {
				s := sides[turn%len(sides)]
				s.do("ok", "open %s%s", s.under, path)
				s.do(fmt.Sprint(turn*2), "count")
				s.do("ok", "put 2")
				if turn%20 < len(sides) || turn == *turns-1 {
					s.do("ok", "check")
				}
				s.do("ok", "close")
			}
		})
	}
}

// TestTogether lets three programs on Windows write one file at the same time.
func TestTogether(t *testing.T) {
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			path := create(t, mode)
			sides := []*side{start(t, "ours", true), start(t, "c", true), start(t, "ours", true)}
			for _, s := range sides {
				s.do("ok", "open Z:%s", path)
			}
			for _, s := range sides {
				s.ask("put %d", *turns)
			}
			for _, s := range sides {
				if got := s.answer(); got != "ok" {
					t.Errorf("%s: %s", s.name, got)
				}
			}
			for _, s := range sides {
				s.do(fmt.Sprint(len(sides)**turns), "count")
				s.do("ok", "check")
				s.do("ok", "close")
			}
		})
	}
}
