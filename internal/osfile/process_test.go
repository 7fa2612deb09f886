package osfile_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
)

// The test binary is its own second process: started with this variable it plays a role from roles
// instead of running tests. The rest of the variable's words are the role's arguments.
const roleVariable = "OSFILE_TEST_ROLE"

var roles = map[string]func(args []string) error{
	"lock":    lockRole,
	"try":     tryRole,
	"replace": replaceRole,
	"live":    liveRole,
}

func TestMain(m *testing.M) {
	words := strings.Split(os.Getenv(roleVariable), "\n")
	role := roles[words[0]]
	if role == nil {
		os.Exit(m.Run())
	}
	if err := role(words[1:]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// A process is a running role. It ends when its standard input ends.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	out   *bufio.Scanner
}

// start runs a role and returns when it has written its first line, which is "ok".
func start(t *testing.T, role ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+strings.Join(role, "\n"))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd, stdin, bufio.NewScanner(stdout)}
	t.Cleanup(p.stop)
	if line := p.line(); line != "ok" {
		t.Fatalf("process %q said %q", role, line)
	}
	return p
}

func (p *process) line() string {
	p.out.Scan()
	return p.out.Text()
}

// stop ends the process and waits for it.
func (p *process) stop() {
	_ = p.stdin.Close()
	_ = p.cmd.Wait()
}

// kill ends the process wherever it is, and waits for it.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// ready tells the parent, and waits until the parent is done.
func ready() {
	fmt.Println("ok")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// open opens a file for reading and writing, and closes it at the end of the test.
func open(t *testing.T, name string) *osfile.File {
	t.Helper()
	f, err := osfile.Open(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}
