package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestServeReadOnly serves volumes that cannot be written, although the server is to let clients
// write: on a medium for reading only, and in files and directories of another user.
func TestServeReadOnly(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount, and become another user")
	}
	t.Parallel()
	for _, what := range []string{"medium", "file", "directory"} {
		t.Run(what, func(t *testing.T) {
			dir, file := smallDisk(t, "ext4", 8), filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(file, []byte("hello\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			volume := filepath.Join(dir, "v.folio")
			mustRun(t, "put", "--create", file, volume)
			cmd := serveCommand(t, nil, "-q", "--write", "--listen", "127.0.0.1:0", volume)
			switch what {
			case "medium":
				if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
					t.Fatal(err)
				}
			case "file":
				runAsNobody(t, cmd, dir, 0o777)
				if err := os.Chmod(volume, 0o444); err != nil {
					t.Fatal(err)
				}
			case "directory":
				runAsNobody(t, cmd, dir, 0o755)
				if err := os.Chmod(volume, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			before, err := os.ReadFile(volume)
			if err != nil {
				t.Fatal(err)
			}
			p := startServing(t, cmd)
			for _, r := range [][]string{
				{"GET", "/file"},
				{"PUT", "/new"},
				{"PUT", "/file"},
				{"DELETE", "/file"},
				{"MKCOL", "/dir"},
				{"PATCH", "/file", "X-Update-Range", "append"},
				{"MOVE", "/file", "Destination", "/moved"},
				{"COPY", "/file", "Destination", "/copy"},
				{"PROPPATCH", "/file"},
				{"LOCK", "/new"},
				{"PUT", "/new", "If", "(Not <DAV:no-lock>)"},
				{"MKCOL", "/dir", "If", "(Not <DAV:no-lock>)"},
				{"DELETE", "/file", "If", "(Not <DAV:no-lock>)"},
				{"POST", "/-/tus/", "Tus-Resumable", "1.0.0", "Upload-Length", "1", "Upload-Metadata", "path eA=="},
				{"POST", "/-/share"},
				{"GET", "/file"},
				{"PROPFIND", "/", "Depth", "1"},
				{"GET", "/healthz"},
				{"GET", "/-/archive/.zip"},
			} {
				status, text := sendTo(t, p, r[0], r[1], r[2:]...)
				reads := r[0] == "GET" || r[0] == "PROPFIND"
				if reads && status >= 300 || !reads && status != 403 && !(r[0] == "PROPPATCH" && status == 207) {
					t.Errorf("%q: %d %s", r, status, text)
				}
				if strings.Contains(text, dir) {
					t.Errorf("%q: a client learns where the volume lies: %s", r, text)
				}
			}
			if after, err := os.ReadFile(volume); err != nil || !bytes.Equal(after, before) {
				t.Error("the volume has changed", err)
			}
		})
	}
}

// runAsNobody lets a command run as a user who is not root, in a directory with a mode.
func runAsNobody(t *testing.T, cmd *exec.Cmd, dir string, mode os.FileMode) {
	t.Helper()
	const nobody = 65534
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(memoryDir(t), "folio") // where the user reaches it
	syscall.ForkLock.RLock()                    // a process that is forked now would have the file open, and it could not be run
	err = os.WriteFile(bin, self, 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{filepath.Dir(bin), filepath.Dir(filepath.Dir(dir)), filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Args[0] = bin, bin
}

const bodies = `<propertyupdate xmlns="DAV:"><set><prop><author xmlns="http://example.com/">x</author></prop></set></propertyupdate>`

// sendTo sends a request, with a body that suits it.
func sendTo(t *testing.T, p *servingProcess, method, target string, headers ...string) (status int, text string) {
	t.Helper()
	body := map[string]string{
		"PUT": "text", "PATCH": "text", "POST": `{"path":"file"}`, "PROPPATCH": bodies,
		"LOCK": `<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`,
	}[method]
	if strings.Contains(target, "tus") {
		body = ""
	}
	r, err := http.NewRequest(method, "http://"+p.address+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(all)
}
