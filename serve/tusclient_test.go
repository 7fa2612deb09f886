package serve_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio"
)

// A killable is a server that is killed and started again at the same address.
type killable struct {
	t    *testing.T
	name string // of the volume
	cmd  *exec.Cmd
	url  string
}

func startKillable(t *testing.T, name string) *killable {
	t.Helper()
	k := &killable{t: t, name: name}
	k.cmd, k.url = startChild(t, name, "127.0.0.1:0")
	t.Cleanup(k.kill)
	return k
}

func (k *killable) kill() {
	_ = k.cmd.Process.Kill()
	_ = k.cmd.Wait() // it was killed
}

func (k *killable) restart() {
	k.kill()
	k.cmd, _ = startChild(k.t, k.name, strings.TrimPrefix(k.url, "http://"))
}

// npmInstall returns a directory with a package of npm. Without npm, or out of reach of its
// registry, the test is skipped.
func npmInstall(t *testing.T, name string) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skipf("%s: no npm", name)
	}
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), npm, "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", name).CombinedOutput()
	if err != nil {
		t.Skipf("npm cannot fetch %s: %v: %.200s", name, err, out)
	}
	return dir
}

// TestTusClient uploads by tus's reference client, while the server is killed.
func TestTusClient(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	dir := npmInstall(t, "tus-js-client@4.3.1")
	script, err := os.ReadFile("testdata/tusclient.mjs")
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, "client.mjs"), script, 0o644))
	name := filepath.Join(t.TempDir(), "v.folio")
	vol, err := folio.Open(name, &folio.Options{Create: true})
	check(t, err)
	check(t, vol.Close())
	server := startKillable(t, name)

	cmd := exec.CommandContext(t.Context(), node, "client.mjs")
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), "URL="+server.url), os.Stderr
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	passed := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch line := lines.Text(); {
		case line == "kill":
			server.restart()
			_, err = io.WriteString(in, "done\n")
		case line == "expire":
			expireUploads(t, name)
			_, err = io.WriteString(in, "done\n")
		case strings.HasPrefix(line, "FAIL"):
			t.Error(line)
		default:
			passed = passed || line == "PASS"
			t.Log(line)
		}
		check(t, err)
	}
	if err := cmd.Wait(); err != nil || !passed {
		t.Errorf("node: %v", err)
	}
	mustBeGood(t, name)
}

// expireUploads removes uploads as the server does after a week.
func expireUploads(t *testing.T, name string) {
	t.Helper()
	vol, err := folio.Open(name, nil)
	check(t, err)
	defer vol.Close()
	check(t, vol.RemoveAll(".folio-serve/uploads"))
}

// mustBeGood checks a volume.
func mustBeGood(t *testing.T, name string) {
	t.Helper()
	vol, err := folio.Open(name, nil)
	check(t, err)
	defer vol.Close()
	report, err := vol.Check(t.Context(), nil)
	if check(t, err); !report.OK() {
		t.Error(report.Problems)
	}
}
