//go:build unix

package sidefile

import (
	"bufio"
	"bytes"
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
	"github.com/foliofs/folio/internal/oracle/judge"
)

// An actor is a user, and the owner and the directory of the databases that this user opens.
type actor struct {
	name       string
	uid, gid   int // of the user; -1 for that of the test
	owner, grp int // of the databases
	modes      []fs.FileMode
}

var allModes = []fs.FileMode{0o600, 0o640, 0o644, 0o660, 0o666}

// actors need root, apart from the first.
var actors = []actor{
	{name: "oneself", uid: -1, gid: -1, owner: -1, grp: -1, modes: allModes},
	{name: "root", uid: 0, gid: 0, owner: 1001, grp: 1002, modes: allModes},
	{name: "owner", uid: 1001, gid: 1002, owner: 1001, grp: 1002, modes: allModes},
	{name: "owner of another group", uid: 1001, gid: 1001, owner: 1001, grp: 1002, modes: allModes},
	{name: "member of the group", uid: 1003, gid: 1002, owner: 1001, grp: 1002, modes: []fs.FileMode{0o660, 0o666}},
}

var umasks = []int{0, 0o022, 0o077}

const roleVariable = "SIDEFILE_TEST_ROLE"

func TestMain(m *testing.M) {
	var r role
	if _, err := fmt.Sscanf(os.Getenv(roleVariable), "%d %d %d %d %d %s", &r.ours, &r.umask, &r.actor, &r.uid, &r.gid, &r.dir); err != nil {
		os.Exit(m.Run())
	}
	if err := r.play(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// A role is one process: an engine, under a umask, as a user. Both belong to the process as a
// whole.
type role struct {
	ours, umask, actor, uid, gid int
	dir                          string
}

// play uses each database in each way, and writes a line for each file seen.
func (r *role) play() error {
	syscall.Umask(r.umask)
	if r.uid >= 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(r.gid), syscall.Setuid(r.uid)); err != nil {
			return err
		}
	}
	for _, e := range entries() {
		for _, mode := range actors[r.actor].modes {
			path := filepath.Join(r.dir, name(e.name, mode), "db")
			use := e.c
			if r.ours == 1 {
				use = e.ours
			}
			err := use(path, func(moment string) { list(e.name, mode, moment, path) })
			if err != nil {
				return fmt.Errorf("%s, %o: %w", e.name, mode, err)
			}
		}
	}
	return nil
}

func name(entry string, mode fs.FileMode) string { return fmt.Sprintf("%s-%o", entry, mode) }

// list writes a line for each file of a database.
func list(entry string, mode fs.FileMode, moment, path string) {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm", "-compact"} {
		info, err := os.Lstat(path + suffix)
		if err != nil {
			continue
		}
		st := info.Sys().(*syscall.Stat_t)
		fmt.Printf("%s, %o, %s, %q: %v %d:%d\n", entry, mode, moment, suffix, info.Mode(), st.Uid, st.Gid)
	}
}

// TestSideFiles compares the permissions and the owner of each file that the engine leaves next to
// a database, while it writes, while it has the database open, and when it has closed it, with
// those of C SQLite: in each way to come to the database, under each umask, and as each user.
func TestSideFiles(t *testing.T) {
	if !judge.Available {
		t.Skip("C SQLite: no C compiler in this build")
	}
	cases, differ := 0, 0
	for i, a := range actors {
		if a.owner >= 0 && os.Geteuid() != 0 {
			t.Logf("%s: needs root", a.name)
			continue
		}
		for _, umask := range umasks {
			want, got := run(t, 0, umask, i), run(t, 1, umask, i)
			for key := range got { // C keeps some longer, such as the journal of an exclusive database
				cases++
				if got[key] != want[key] {
					differ++
					t.Errorf("%s, umask %o: %s: %q, C has %q", a.name, umask, key, got[key], want[key])
				}
			}
		}
	}
	t.Logf("side files: %d differ of %d", differ, cases)
}

// run plays a role and returns its observations.
func run(t *testing.T, ours, umask, actor int) map[string]string {
	t.Helper()
	a := &actors[actor]
	dir := databases(t, a)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %d %d %d %s", roleVariable, ours, umask, actor, a.uid, a.gid, dir))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s, umask %o, ours %d: %v: %.2000s%.2000s", a.name, umask, ours, err, out, stderr.Bytes())
	}
	seen := make(map[string]string)
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ": ")
		seen[key] = value
	}
	return seen
}

// databases makes a database for each way and mode, each in a directory of its own that the actor
// can write to.
func databases(t *testing.T, a *actor) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "sidefile")
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must.Do(t, os.Chmod(dir, 0o755))
	plain, wal := image(t, dir, "DELETE"), image(t, dir, "WAL")
	for _, e := range entries() {
		for _, mode := range a.modes {
			sub := filepath.Join(dir, name(e.name, mode))
			must.Do(t, os.Mkdir(sub, 0o755))
			data := plain
			if e.wal {
				data = wal
			}
			if !e.none {
				put(t, filepath.Join(sub, "db"), data, mode, a.owner, a.grp)
			}
			for _, suffix := range e.left {
				put(t, filepath.Join(sub, "db"+suffix), nil, 0o600, a.uid, a.gid)
			}
			must.Do(t, os.Lchown(sub, a.owner, a.grp))
			must.Do(t, os.Chmod(sub, 0o775))
		}
	}
	return dir
}

// image returns a database.
func image(t *testing.T, dir, mode string) []byte {
	t.Helper()
	path := filepath.Join(dir, "image")
	c, err := judge.Open(path)
	must.Do(t, err)
	must.Do(t, c.Exec("PRAGMA journal_mode = "+mode+"; CREATE TABLE t (a); INSERT INTO t VALUES (1)"))
	must.Do(t, c.Close())
	data, err := os.ReadFile(path)
	must.Do(t, err)
	must.Do(t, os.Remove(path))
	return data
}

func put(t *testing.T, path string, data []byte, mode fs.FileMode, uid, gid int) {
	t.Helper()
	must.Do(t, os.WriteFile(path, data, 0o600))
	must.Do(t, os.Lchown(path, uid, gid))
	must.Do(t, os.Chmod(path, mode))
}
