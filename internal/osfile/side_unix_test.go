//go:build unix

package osfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/race"
)

func init() { roles["side"] = sideRole }

var sideFlags = []int{os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_CREATE}

// obstacles put something at the name of a side file that is none. The file called victim must stay
// as it is, the one called absent must not come into being.
var obstacles = map[string]func(t *testing.T, side, victim, absent string) error{
	"link":          func(_ *testing.T, side, victim, _ string) error { return os.Symlink(victim, side) },
	"dangling link": func(_ *testing.T, side, _, absent string) error { return os.Symlink(absent, side) },
	"looping link":  func(_ *testing.T, side, _, _ string) error { return os.Symlink(filepath.Base(side), side) },
	"hard link":     func(_ *testing.T, side, victim, _ string) error { return os.Link(victim, side) },
	"directory":     func(_ *testing.T, side, _, _ string) error { return os.Mkdir(side, 0o777) },
	"pipe":          func(_ *testing.T, side, _, _ string) error { return unix.Mkfifo(side, 0o666) },
	"socket": func(t *testing.T, side, _, _ string) error {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: side, Net: "unix"})
		if err == nil {
			t.Cleanup(func() { _ = l.Close() })
		}
		return err
	},
	"device": func(_ *testing.T, side, _, _ string) error {
		return exec.Command("mknod", side, "c", "1", "3").Run() // its numbers have another type on each system
	},
}

// TestSideRefused has everything at the name of a side file that it must not be (D1).
func TestSideRefused(t *testing.T) {
	t.Parallel()
	for what, put := range obstacles {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := shortDir(t)
			db := open(t, filepath.Join(dir, "db"))
			victim, absent := filepath.Join(dir, "victim"), filepath.Join(dir, "absent")
			write(t, victim)
			if err := put(t, db.Name()+"-wal", victim, absent); err != nil {
				t.Skip(err)
			}
			for _, flag := range sideFlags {
				_, err := db.OpenSide("-wal", flag)
				wantPathError(t, err, "open", db.Name()+"-wal", osfile.ErrSideFile)
				if err != nil && strings.Contains(err.Error(), "\n") {
					t.Errorf("more than a line: %v", err)
				}
			}
			_, err := osfile.OS.OpenSide(db, "-wal", osfile.ReadWrite|osfile.CreateNew)
			if !errors.Is(err, fs.ErrExist) {
				t.Errorf("a new file: %v", err)
			}
			if _, _, err := osfile.SideExists(db.Name() + "-wal"); what != "hard link" && !errors.Is(err, osfile.ErrSideFile) {
				t.Errorf("SideExists: %v", err)
			}
			wantContent(t, victim, "content")
			if _, err := os.Lstat(absent); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the target of the link: %v", err)
			}
		})
	}
}

// shortDir is a directory whose name leaves room for that of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "side")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSideOwner has side files of the users 1001 and 1002, and of root, in directories that every
// user can write to, or a group can (D2).
func TestSideOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	for _, tt := range []struct {
		dir, db fs.FileMode
		owner   int
		refused bool
	}{
		{0o755, 0o644, 1002, false},
		{0o775, 0o660, 1002, false}, // a directory that a group shares
		{0o775 | fs.ModeSetgid, 0o660, 1002, false},
		{0o777, 0o600, 1001, false},
		{0o777, 0o600, 0, false},
		{0o777, 0o600, 1002, true},
		{0o777, 0o664, 1002, true},
		{0o777, 0o666, 1002, false}, // they can change the database itself
		{0o777 | fs.ModeSticky, 0o600, 1001, false},
		{0o777 | fs.ModeSticky, 0o600, 0, false},
		{0o777 | fs.ModeSticky, 0o644, 1002, true},
		{0o777 | fs.ModeSticky, 0o666, 1002, false},
	} {
		t.Run(fmt.Sprintf("%v,%v,%d", tt.dir, tt.db, tt.owner), func(t *testing.T) {
			dir := t.TempDir()
			db := open(t, filepath.Join(dir, "db"))
			side := db.Name() + "-wal"
			write(t, side)
			must.Do(t, os.Chown(side, tt.owner, tt.owner))
			must.Do(t, os.Chown(db.Name(), 1001, 1001))
			must.Do(t, os.Chmod(db.Name(), tt.db))
			must.Do(t, os.Chmod(dir, tt.dir))
			for _, flag := range sideFlags {
				f, err := db.OpenSide("-wal", flag)
				if errors.Is(err, osfile.ErrSideFile) != tt.refused || !tt.refused && err != nil {
					t.Errorf("flag %d: %v", flag, err)
				}
				if err == nil {
					must.Do(t, f.Close())
				}
			}
			wantContent(t, side, "content")
		})
	}
}

// TestSideAccess makes side files of databases of each mode, under each umask, and as root of
// another user (D3, D4).
func TestSideAccess(t *testing.T) {
	race.Skip(t, "it runs processes")
	t.Parallel()
	owners := []int{os.Geteuid()}
	if os.Geteuid() == 0 {
		owners = append(owners, 1001)
	}
	for _, umask := range []int{0, 0o022, 0o077} {
		for _, mode := range []fs.FileMode{0o600, 0o640, 0o644, 0o660, 0o666} {
			for _, owner := range owners {
				db := filepath.Join(t.TempDir(), "db")
				write(t, db)
				must.Do(t, os.Chmod(db, mode))
				if owner != os.Geteuid() {
					must.Do(t, os.Chown(db, owner, owner+1))
				}
				write(t, db+"-empty")
				must.Do(t, os.Truncate(db+"-empty", 0))
				write(t, db+"-full")
				start(t, "side", strconv.Itoa(umask), db).stop()
				wantAccess(t, db+"-new", db, mode)
				wantAccess(t, db+"-empty", db, mode)
				wantAccess(t, db+"-full", db, 0o644)
			}
		}
	}
}

// wantAccess checks the permissions of a file, and that it has the owner and the group of another
// one.
func wantAccess(t *testing.T, name, like string, mode fs.FileMode) {
	t.Helper()
	var got, want unix.Stat_t
	must.Do(t, unix.Lstat(name, &got))
	must.Do(t, unix.Lstat(like, &want))
	if fs.FileMode(got.Mode)&fs.ModePerm != mode || got.Uid != want.Uid || got.Gid != want.Gid {
		t.Errorf("%s of %o, %d:%d: %o, %d:%d", filepath.Base(name), want.Mode, want.Uid, want.Gid, got.Mode, got.Uid, got.Gid)
	}
}

// sideRole opens side files under a umask.
func sideRole(args []string) error {
	umask, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	unix.Umask(umask)
	db, err := osfile.Open(args[1], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	for _, suffix := range []string{"-new", "-empty", "-full"} {
		if err := openAndClose(db, suffix); err != nil {
			return err
		}
	}
	ready()
	return nil
}

func openAndClose(db *osfile.File, suffix string) error {
	f, err := db.OpenSide(suffix, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	return f.Close()
}

// TestSideSwapped opens a side file while its name leads to it, to another file under two names,
// through a link, and to nothing, by turns.
func TestSideSwapped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "db"))
	victim, side := filepath.Join(dir, "victim"), db.Name()+"-wal"
	write(t, victim)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Remove(side)
			switch i % 4 {
			case 0:
				_ = os.Link(victim, side)
			case 1:
				_ = os.Symlink(victim, side)
			case 2:
				_ = syscall.Mkfifo(side, 0o600)
			}
		}
	}()
	for range 3000 {
		f, err := db.OpenSide("-wal", os.O_RDWR|os.O_CREATE)
		if err != nil {
			if !errors.Is(err, osfile.ErrSideFile) {
				t.Error(err)
			}
			continue
		}
		if _, err := f.WriteAt([]byte("overwritten"), 0); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	<-stopped
	wantContent(t, victim, "content")
}

// TestPrepareSide makes a side file for a program that opens it by its name.
func TestPrepareSide(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := filepath.Join(dir, "db")
	if err := osfile.PrepareSide(db, "-hold"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a database: %v", err)
	}
	write(t, db)
	must.Do(t, os.Chmod(db, 0o640))
	must.Do(t, os.Symlink("db", filepath.Join(dir, "link")))
	must.Do(t, osfile.PrepareSide(filepath.Join(dir, "link"), "-hold"))
	wantAccess(t, db+"-hold", db, 0o640)
	must.Do(t, os.Remove(db+"-hold"))
	must.Do(t, os.Symlink("absent", db+"-hold"))
	if err := osfile.PrepareSide(db, "-hold"); !errors.Is(err, osfile.ErrSideFile) {
		t.Errorf("a link: %v", err)
	}
	wantFiles(t, dir, "db", "db-hold", "link")
}
