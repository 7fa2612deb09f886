package sqlitefile

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
)

const readOnlyEnv = "FOLIO_READ_ONLY_DIRECTORY"

// readOnlyCases are databases that cannot be written to, or only in part.
var readOnlyCases = []struct {
	name, mode string
	keep       bool // a connection stays, and with it the log and its index
	file, dir  fs.FileMode
	companion  fs.FileMode
	read       error // what reading gives
	write      error
}{
	{"all of a rollback database", "delete", false, 0o444, 0o555, 0, nil, ErrReadOnly},
	{"the file of a rollback database", "delete", false, 0o444, 0o777, 0, nil, ErrReadOnly},
	{"the directory of a rollback database", "delete", false, 0o666, 0o555, 0, nil, fs.ErrPermission},
	{"all of a database in WAL mode", "wal", false, 0o444, 0o555, 0, nil, ErrReadOnly},
	{"the directory of a database in WAL mode", "wal", false, 0o666, 0o555, 0, nil, ErrReadOnly},
	{"the log and its index", "wal", true, 0o666, 0o777, 0o444, nil, ErrReadOnly},
	{"a log that may not even be read", "wal", true, 0o666, 0o777, 0o000, fs.ErrPermission, fs.ErrPermission},
	{"a file that may not even be read", "delete", false, 0o000, 0o777, 0, fs.ErrPermission, fs.ErrPermission},
}

// TestReadOnlyFiles opens databases whose permissions forbid to write something of them, as
// somebody who is not root.
func TestReadOnlyFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range readOnlyCases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, err := os.MkdirTemp("", "folio")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(dir, 0o700); _ = os.RemoveAll(dir) })
			path := filepath.Join(dir, "ro.db")
			newFullDiskAt(t, path, tt.mode == "wal", JournalDelete)
			if tt.keep {
				db := open(t, path, nil)
				if err := db.Exec(t.Context(), "CREATE TABLE u (a)"); err != nil {
					t.Fatal(err)
				}
				for _, suffix := range []string{"-wal", "-shm"} {
					if err := os.Chmod(path+suffix, tt.companion); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := errors.Join(os.Chmod(path, tt.file), os.Chmod(dir, tt.dir)); err != nil {
				t.Fatal(err)
			}
			out := asNobody(t, "TestReadOnlyProcess", path)
			for what, want := range map[string]error{"read": tt.read, "write": tt.write} {
				line := lineOf(out, what)
				if ok := want == nil && line == "ok" || want != nil && strings.Contains(line, want.Error()) && strings.Count(line, path) == 1; !ok {
					t.Errorf("%s: %q, want %v", what, line, want)
				}
			}
		})
	}
}

func lineOf(out, what string) string {
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(line, what+": "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return out
}

// asNobody runs a test of this program without the rights of root.
func asNobody(t *testing.T, test, path string) string {
	t.Helper()
	program := os.Args[0]
	cmd := exec.Command(program, "-test.run=^"+test+"$", "-test.v")
	cmd.Env = append(os.Environ(), readOnlyEnv+"="+path)
	cmd.Dir = "/"
	if os.Getuid() == 0 {
		cmd.Path = copyProgram(t)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// copyProgram puts this program where everybody may run it.
func copyProgram(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "folio")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "test")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(os.Args[0], path); err != nil {
		writeFile(t, path, readFile(t, os.Args[0]))
	}
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestReadOnlyProcess is not a test but what TestReadOnlyFiles runs.
func TestReadOnlyProcess(t *testing.T) {
	path := os.Getenv(readOnlyEnv)
	if path == "" {
		t.Skip("only a process of TestReadOnlyFiles")
	}
	tell := func(what string, err error) {
		if err == nil {
			err = errors.New("ok")
		}
		fmt.Printf("%s: %v\n", what, err)
	}
	db, err := Open(path, nil)
	if err != nil {
		tell("read", err)
		tell("write", err)
		return
	}
	tell("read", db.View(t.Context(), countRows(new(int))))
	tell("write", db.Exec(t.Context(), "CREATE TABLE more (a)"))
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestCreateDenied makes a database in a directory that cannot be written to. The error must tell
// of the directory, not of the file that is missing.
func TestCreateDenied(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "folio")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must.Do(t, os.Chmod(dir, 0o555))
	if out := asNobody(t, "TestCreateDeniedProcess", filepath.Join(dir, "new.db")); lineOf(out, "denied") != "true" {
		t.Error(out)
	}
}

// TestCreateDeniedProcess is not a test but what TestCreateDenied runs.
func TestCreateDeniedProcess(t *testing.T) {
	path := os.Getenv(readOnlyEnv)
	if path == "" {
		t.Skip("only a process of TestCreateDenied")
	}
	_, err := Open(path, &Options{Create: true})
	fmt.Printf("denied: %t\n%v\n", errors.Is(err, fs.ErrPermission), err)
}

// TestReadOnlyDisk opens databases on a disk that is mounted to read only.
func TestReadOnlyDisk(t *testing.T) {
	for _, wal := range []bool{false, true} {
		t.Run(fmt.Sprint("wal ", wal), func(t *testing.T) {
			dir := ext4Disk(t, 4)
			path := filepath.Join(dir, "ro.db")
			newFullDiskAt(t, path, wal, JournalDelete)
			if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
				t.Skip("a disk that is read only:", err)
			}
			db, err := Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			wantRows(t, db, 0)
			if err := db.Exec(t.Context(), "CREATE TABLE more (a)"); !errors.Is(err, ErrReadOnly) {
				t.Errorf("writing: %v, want ErrReadOnly", err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
