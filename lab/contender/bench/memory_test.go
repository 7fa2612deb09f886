package bench

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"github.com/foliofs/folio"
)

// BenchmarkMemory measures the most memory of their own that processes have: one that walks the Go
// distribution, and one that checks a large volume, beside SQLite's check of the same file. Pages
// of mapped files do not count, because the system can take them back at any time.
func BenchmarkMemory(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("only Linux tells how much memory of its own a process has")
	}
	t := goroot(b, ".")
	large := generated(b, *files)
	for _, c := range []struct{ name, role, path string }{
		{"walk/files", "walk-files", t.dir},
		{"walk/folio", "walk-folio", t.volume},
		{"check/sqlite", "check-sqlite", large},
		{"check/folio", "check-folio", large},
	} {
		b.Run(c.name, func(b *testing.B) {
			most := 0
			for range b.N {
				most = max(most, peak(b, process(b, c.role, c.path)))
			}
			b.ReportMetric(float64(most), "KiB-peak")
		})
	}
}

// peak runs a process, and returns the most memory of its own that it had, in KiB. The process says
// when it is done, and waits.
func peak(b *testing.B, cmd *exec.Cmd) (most int) {
	b.Helper()
	in, err := cmd.StdinPipe()
	must(b, err)
	out, err := cmd.StdoutPipe()
	must(b, err)
	must(b, cmd.Start())
	done := make(chan error, 1)
	go func() {
		_, err := bufio.NewReader(out).ReadString('\n')
		done <- err
	}()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			most = max(most, ownMemory(cmd.Process.Pid))
			must(b, errors.Join(err, in.Close(), cmd.Wait()))
			return most
		case <-tick.C:
			most = max(most, ownMemory(cmd.Process.Pid))
		}
	}
}

var rssAnon = regexp.MustCompile(`RssAnon:\s+(\d+) kB`)

// ownMemory is the anonymous memory of a process, in KiB; 0 if it has ended.
func ownMemory(pid int) int {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	m := rssAnon.FindSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1])) // the pattern has digits only
	return n
}

func walkFiles(args []string) error {
	_, err := walk(os.DirFS(args[0]), false)
	return err
}

func walkVolume(args []string) error {
	v, err := folio.Open(args[0], nil)
	if err != nil {
		return err
	}
	defer v.Close()
	_, err = walk(v.FS(), false)
	return err
}

func checkVolume(args []string) error {
	v, err := folio.Open(args[0], nil)
	if err != nil {
		return err
	}
	defer v.Close()
	r, err := v.Check(context.Background(), nil)
	if err == nil && len(r.Problems) > 0 {
		err = fmt.Errorf("problems: %v", r.Problems)
	}
	return err
}

func checkSQLite(args []string) error {
	db, err := sql.Open("sqlite3", "file:"+args[0]+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	return integrity(db)
}

// integrity is SQLite's own check of a database.
func integrity(db *sql.DB) error {
	var text string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&text); err != nil {
		return err
	}
	if text != "ok" {
		return fmt.Errorf("integrity_check: %s", text)
	}
	return nil
}
