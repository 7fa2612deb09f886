//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
)

// TestGit lets git keep a repository in a mount: it maps files, renames them into place, and checks
// all it has written.
func TestGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there")
	}
	d := startDaemon(t, newVolume(t))
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-C", d.dir, "-c", "user.name=n", "-c", "user.email=e", "-c", "gc.auto=0", "-c", "init.defaultBranch=main"}, args...)
		if out, err := d.run(time.Minute, "git", args...); err != nil {
			t.Fatalf("git %v: %v\n%s", args[9:], err, out)
		}
	}
	git("init", "-q")
	rng := rand.New(rand.NewPCG(1, 1))
	for round := range 5 {
		for i := range 100 {
			path := d.path(fmt.Sprintf("dir%d/file%d", i%7, rng.IntN(200)))
			must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must.Do(t, os.WriteFile(path, []byte(strings.Repeat(fmt.Sprintln(rng.IntN(10)), rng.IntN(2000))), 0o644))
		}
		git("add", "-A")
		git("commit", "-q", "-m", fmt.Sprint(round))
	}
	git("fsck", "--strict")
	git("gc", "-q")
	git("fsck", "--strict")
	git("clone", "-q", d.dir, d.path("clone"))
	git("-C", d.path("clone"), "fsck", "--strict")
	d.stop()
	checkVolume(t, d.volume)
}

// TestSQLite kills SQLite while it writes a database in WAL mode in a mount. What it has said to be
// committed must be there.
func TestSQLite(t *testing.T) {
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("sqlite3 is not there")
	}
	d := startDaemon(t, newVolume(t))
	db := d.path("test.db")
	query := func(sql string) string {
		t.Helper()
		out, err := d.run(time.Minute, shell, db, sql)
		if err != nil {
			t.Fatalf("%s: %v\n%s", sql, err, out)
		}
		return strings.TrimSpace(out)
	}
	query("pragma journal_mode = wal; create table t (a integer primary key, b text); create index i on t (b)")
	acknowledged := 0
	for range 8 {
		cmd := exec.Command(shell, "-batch", db)
		in, err := cmd.StdinPipe()
		must.Do(t, err)
		out, err := cmd.StdoutPipe()
		must.Do(t, err)
		must.Do(t, cmd.Start())
		go func() {
			for i := 0; ; i++ {
				if _, err := io.WriteString(in, "insert into t (b) values (hex(randomblob(200))); select max(a) from t;\n"); err != nil {
					return
				}
			}
		}()
		time.AfterFunc(time.Duration(50+rand.IntN(200))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		for s := bufio.NewScanner(out); s.Scan(); {
			if n, err := strconv.Atoi(s.Text()); err == nil {
				acknowledged = max(acknowledged, n)
			}
		}
		_ = cmd.Wait()
		if got := query("pragma integrity_check"); got != "ok" {
			t.Fatal(got)
		}
		if n, _ := strconv.Atoi(query("select count(*) from t")); n < acknowledged {
			t.Fatalf("%d rows, of %d", n, acknowledged)
		}
	}
	t.Logf("%d rows", acknowledged)
}
