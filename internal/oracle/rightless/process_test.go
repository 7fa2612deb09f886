package rightless

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The test's program is every other process as well: started with this variable, a role and its
// arguments, it plays the role.
const roleVariable = "FOLIO_RIGHTLESS_ROLE"

var roles = map[string]func(path, engine string) error{"read": read, "write": write}

func TestMain(m *testing.M) {
	part := strings.Split(os.Getenv(roleVariable), "|")
	if len(part) < 3 {
		os.Exit(m.Run())
	}
	if err := roles[part[0]](part[1], part[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// command returns the command of a process.
func command(program, role, path, engine string) *exec.Cmd {
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), roleVariable+"="+role+"|"+path+"|"+engine)
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	return cmd
}

// shared returns a directory whose files each user may read, and the test's program in it.
func shared(t *testing.T) (dir, program string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "folio")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program = filepath.Join(dir, "test")
	err = os.Chmod(dir, 0o755)
	if err == nil && os.Link(os.Args[0], program) != nil {
		var content []byte
		content, err = os.ReadFile(os.Args[0])
		err = errors.Join(err, os.WriteFile(program, content, 0o755))
	}
	if err = errors.Join(err, os.Chmod(program, 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir, program
}
