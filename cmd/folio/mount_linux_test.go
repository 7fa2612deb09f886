package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/cmd/folio/internal/mountpoint"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
	"github.com/foliofs/folio/sqlitefile"
)

// mountLimit is how long all scripts with mounts may take.
const mountLimit = 10 * time.Minute

// TestMountScript runs the scripts that mount volumes.
func TestMountScript(t *testing.T) {
	t.Parallel()
	runMountScripts(t, "testdata/mount", "")
}

// TestMountServer runs those that mount volumes on a server.
func TestMountServer(t *testing.T) {
	t.Parallel()
	address := pgserver.ForTest(t).Address("mounted")
	runMountScripts(t, "testdata/mountserver", strings.Replace(address, "folio@", "folio:hidden-word@", 1))
}

// runMountScripts runs the scripts in a directory. VOLUME is a volume on a server.
func runMountScripts(t *testing.T, dir, volume string) {
	t.Helper()
	if err := mountpoint.Able(); err != nil {
		t.Skip("mounting volumes:", err)
	}
	if os.Geteuid() != 0 || !canMount() {
		t.Skip("mounting volumes: needs root, and the right to mount")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Deadline:            time.Now().Add(mountLimit),
		Condition:           condition,
		Setup: func(env *testscript.Env) error {
			env.Setenv("VOLUME", volume)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"oneline":    oneLine,
			"exitcode":   exitCode,
			"mountpoint": makeMountpoint,
			"mounted":    mounted,
			"exclusive":  exclusive,
			"hold":       hold,
		},
	})
}

// mountpoint DIR... makes directories, at which nothing is mounted any more when the script ends.
func makeMountpoint(ts *testscript.TestScript, _ bool, args []string) {
	for _, arg := range args {
		dir := ts.MkAbs(arg)
		ts.Check(os.Mkdir(dir, 0o755))
		ts.Defer(func() {
			for unix.Unmount(dir, unix.MNT_DETACH|unix.MNT_FORCE) == nil {
			}
		})
	}
}

// mounted DIR waits until a volume is mounted there, and "! mounted DIR" until none is.
func mounted(ts *testscript.TestScript, neg bool, args []string) {
	real, err := mountpoint.Resolve(ts.MkAbs(args[0]))
	ts.Check(err)
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); runtime.Gosched() {
		mounts, err := mountpoint.Volumes()
		ts.Check(err)
		found := false
		for _, m := range mounts {
			found = found || m.Dir == real && (neg || announced(&m))
		}
		if found != neg {
			return
		}
	}
	ts.Fatalf("%s: mounted: %t", args[0], neg)
}

// announced reports whether all of a mount is done. A daemon that is killed earlier hangs.
func announced(m *mountpoint.Mount) bool {
	_, ok := m.Lifeline()
	return ok
}

// exclusive VOLUME opens a volume in this process, which keeps other processes out until the script
// ends.
func exclusive(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sqlitefile.Open(ts.MkAbs(args[0]), &sqlitefile.Options{Exclusive: true})
	ts.Check(err)
	ts.Defer(func() { _ = db.Close() })
}

// hold FILE keeps a file open until the script ends.
func hold(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Defer(func() { _ = f.Close() })
}

// folioForAll returns a program folio in a directory that every user can read, and a volume there.
func folioForAll(t *testing.T) (program, volume string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "folio-mount-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	program, volume = filepath.Join(dir, "folio"), filepath.Join(dir, "v.folio")
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "create", volume)
	return program, volume
}

// TestCannotMount mounts where the device is missing, where the right to mount is missing, and
// where a user has no program that mounts for users. Each runs in a mount namespace of its own.
func TestCannotMount(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 || !canMount() {
		t.Skip("needs root, and the right to mount")
	}
	for _, program := range []string{"unshare", "setpriv"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	program, volume := folioForAll(t)
	dir := t.TempDir()
	const hide = `for f in /bin/fusermount3 /bin/fusermount /usr/local/bin/fusermount3; do
		[ ! -e $f ] || mount --bind "$3" $f || exit; done; `
	tests := map[string]struct{ script, want string }{
		"no device":  {`mount -t tmpfs tmpfs /dev; exec "$@"`, "folio: /dev/fuse: there is no FUSE here; "},
		"no program": {hide + `exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"`, "folio: fusermount3: is not installed, and only root mounts without it; "},
		"no right":   {hide + `exec setpriv --bounding-set -sys_admin --inh-caps -sys_admin "$@"`, "folio: " + dir + ": "},
	}
	for name, tt := range tests {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "unshare", "-m", "sh", "-c", tt.script, "sh", program, "mount", volume, dir)
		cmd.WaitDelay = time.Second
		out, _ := cmd.CombinedOutput()
		got := string(out)
		if name == "no program" && strings.HasPrefix(got, "folio: /dev/fuse: permission denied; ") {
			continue // only root may open it here
		}
		if !strings.HasPrefix(got, tt.want) || strings.Count(got, "\n") != 1 || !strings.Contains(got, "folio serve") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
