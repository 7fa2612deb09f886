package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/sqlitefile"
)

// sideCommands are all commands that come to a volume, with its name as VOL, a directory as DIR and
// a file as FILE.
var sideCommands = []string{
	"ls VOL", "tree VOL", "stat VOL:a", "cat VOL:a", "find VOL", "grep hello VOL", "du VOL", "info VOL", "check VOL", "check --repair VOL",
	"export VOL DIR/out", "get VOL:a DIR/a", "backup VOL DIR/copy", "backup -f DIR/good VOL", "backup -f VOL DIR/good", "compact VOL",
	"import -f DIR/src VOL", "sync DIR/src VOL", "put FILE VOL:b", "cp VOL:a VOL:c", "cp VOL:a DIR/c", "mv VOL:a VOL:d", "rm VOL:a",
	"mkdir VOL:e", "ln -s a VOL:f", "chmod 600 VOL:a", "touch VOL:a",
}

var sideObstacles = map[string]func(side, victim, absent string) error{
	"a link":          func(side, victim, _ string) error { return os.Symlink(victim, side) },
	"a dangling link": func(side, _, absent string) error { return os.Symlink(absent, side) },
	"a hard link":     func(side, victim, _ string) error { return os.Link(victim, side) },
	"a directory":     func(side, _, _ string) error { return os.Mkdir(side, 0o777) },
	"a pipe":          func(side, _, _ string) error { return syscall.Mkfifo(side, 0o666) },
}

// sideVolume makes a volume with a file a, and what the commands need.
func sideVolume(t *testing.T) (dir, volume string) {
	t.Helper()
	dir = t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, "src"), 0o755))
	must.Do(t, os.WriteFile(filepath.Join(dir, "src/a"), []byte("hello\n"), 0o644))
	volume = filepath.Join(dir, "v.folio")
	if code, _, stderr := runFolio(t, "import", "-q", filepath.Join(dir, "src"), volume); code != 0 {
		t.Fatal(stderr)
	}
	data, err := os.ReadFile(volume)
	must.Do(t, err)
	must.Do(t, os.WriteFile(filepath.Join(dir, "good"), data, 0o644))
	return dir, volume
}

// TestSideObstacles has each obstacle at the name of each file next to a volume, in rollback and in
// WAL mode, and runs every command: nothing outside is touched, nothing waits, and what is refused
// says so in one line.
func TestSideObstacles(t *testing.T) {
	t.Parallel()
	for _, mode := range []sqlitefile.JournalMode{sqlitefile.JournalDelete, sqlitefile.JournalWAL} {
		for _, suffix := range []string{"-wal", "-shm", "-journal", "-hold", "-compact"} {
			for name, put := range sideObstacles {
				t.Run(fmt.Sprintf("%d,%s,%s", mode, suffix, name), func(t *testing.T) {
					t.Parallel()
					for _, command := range sideCommands {
						checkObstacle(t, mode, suffix, command, put)
					}
				})
			}
		}
	}
}

func checkObstacle(t *testing.T, mode sqlitefile.JournalMode, suffix, command string, put func(side, victim, absent string) error) {
	dir, volume := sideVolume(t)
	db, err := sqlitefile.Open(volume, nil)
	must.Do(t, err)
	must.Do(t, errors.Join(db.SetJournalMode(t.Context(), mode), db.Close()))
	outside := t.TempDir()
	victim, absent := filepath.Join(outside, "victim"), filepath.Join(outside, "absent")
	must.Do(t, os.WriteFile(victim, []byte("content"), 0o600))
	must.Do(t, put(volume+suffix, victim, absent))
	code, _, stderr := runFolio(t, sideArgs(command, dir, volume)...)
	if code != 0 && strings.Count(stderr, "\n") != 1 {
		t.Errorf("%s: %q", command, stderr)
	}
	if code == 0 && mode == sqlitefile.JournalWAL && suffix == "-wal" && !strings.Contains(command, "DIR/good VOL") {
		t.Errorf("%s: not refused", command)
	}
	info, err := os.Stat(victim)
	must.Do(t, err)
	got, err := os.ReadFile(victim)
	must.Do(t, err)
	if string(got) != "content" || info.Mode() != 0o600 {
		t.Errorf("%s: the victim is %v, %.20q", command, info.Mode(), got)
	}
	if _, err := os.Lstat(absent); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: the target of the link was made: %v", command, err)
	}
}

func sideArgs(command, dir, volume string) []string {
	args := strings.Fields(command)
	for i := range args {
		args[i] = strings.NewReplacer("VOL", volume, "DIR", dir, "FILE", filepath.Join(dir, "src/a")).Replace(args[i])
	}
	return args
}

// TestSideAccess replaces a volume of another user, and copies it: permissions and owner stay.
func TestSideAccess(t *testing.T) {
	t.Parallel()
	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 {
		uid, gid = 1001, 1002
	}
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o664} {
		dir, volume := sideVolume(t)
		must.Do(t, os.Chown(volume, uid, gid))
		must.Do(t, os.Chmod(volume, mode))
		for _, command := range []string{
			"put FILE VOL:b", "import -f DIR/src VOL", "compact VOL", "backup VOL DIR/copy", "backup -f VOL DIR/good", "sync DIR/src VOL", "backup -f DIR/copy VOL",
		} {
			if code, _, stderr := runFolio(t, sideArgs(command, dir, volume)...); code != 0 {
				t.Errorf("%s: %s", command, stderr)
			}
			for _, name := range []string{"v.folio", "v.folio-wal", "v.folio-shm", "v.folio-journal", "copy", "good"} {
				info, err := os.Stat(filepath.Join(dir, name))
				if err != nil || name == "good" && command != "backup -f VOL DIR/good" {
					continue
				}
				if st := info.Sys().(*syscall.Stat_t); info.Mode() != mode || int(st.Uid) != uid || int(st.Gid) != gid {
					t.Errorf("after %s: %s is %v of %d:%d, not %v of %d:%d", command, name, info.Mode(), st.Uid, st.Gid, mode, uid, gid)
				}
			}
		}
	}
}

// TestNoLocks lets the system refuse all locks of a volume: each command says so in one line, and
// nothing changes.
func TestNoLocks(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace")
	}
	dir, volume := sideVolume(t)
	folio := filepath.Join(t.TempDir(), "folio")
	if out, err := exec.Command("go", "build", "-o", folio, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	before, err := os.ReadFile(volume)
	must.Do(t, err)
	for _, errno := range []string{"ENOLCK", "EOPNOTSUPP"} {
		for _, command := range []string{"ls VOL", "put FILE VOL:b", "rm VOL:a", "compact VOL", "backup VOL DIR/copy", "import -f DIR/src VOL"} {
			args := []string{"-f", "-qq", "-o", os.DevNull, "-P", volume, "-e", "trace=fcntl", "-e", "inject=fcntl:error=" + errno, folio}
			out, err := exec.Command(strace, append(args, sideArgs(command, dir, volume)...)...).CombinedOutput()
			if strings.Contains(string(out), "ptrace") {
				t.Skipf("strace: %s", out)
			}
			if err == nil || !strings.Contains(string(out), sqlitefile.ErrNoLocks.Error()) || strings.Count(string(out), "\n") != 1 {
				t.Errorf("%s, %s: %v: %s", errno, command, err, out)
			}
		}
	}
	after, err := os.ReadFile(volume)
	must.Do(t, err)
	if string(after) != string(before) {
		t.Error("the volume was changed")
	}
	for _, name := range []string{"v.folio-wal", "v.folio-shm", "v.folio-journal", "copy"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was made", name)
		}
	}
}
