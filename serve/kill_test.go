package serve_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

var kills = flag.Int("kills", 5, "how often TestKilled kills the server")

// childVolume is the variable that makes this program a server of a volume, and childAddress is
// that of its address.
const (
	childVolume  = "FOLIO_TEST_SERVE"
	childAddress = "FOLIO_TEST_ADDRESS"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(childVolume); name != "" {
		serveChild(name)
	}
	os.Exit(m.Run())
}

// serveChild serves a volume until it is killed.
func serveChild(name string) {
	s, err := serve.New(&serve.Options{Write: true, Trash: time.Hour, Sources: []serve.Source{{Name: "v", File: name, Open: func() (*folio.Volume, func() error, error) {
		vol, err := folio.Open(name, nil)
		if err != nil {
			return nil, nil, err
		}
		return vol, vol.Close, nil
	}}}})
	if err == nil {
		var l net.Listener
		if l, err = net.Listen("tcp", os.Getenv(childAddress)); err == nil {
			fmt.Println(l.Addr())
			err = s.Serve(context.Background(), l, nil)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// startChild starts a server, and returns its URL.
func startChild(t *testing.T, name, address string) (cmd *exec.Cmd, url string) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVolume+"="+name, childAddress+"="+address)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	var line [64]byte
	n, err := out.Read(line[:])
	check(t, err)
	return cmd, "http://" + strings.TrimSpace(string(line[:n]))
}

// patternOf is the content of a file by its name, so that each file says what should be in it.
func patternOf(name string, size int) []byte {
	p := []byte(name + ".")
	return bytes.Repeat(p, size/len(p)+1)[:size]
}

// An uploader uploads files until the server dies, and notes what was acknowledged.
type uploader struct {
	url  string
	id   string
	done map[string]int // sizes of files that were acknowledged

	upload string // a resumable upload that is not complete
	name   string
	offset int
	size   int
}

// send sends one request. It returns nil when the server is dead.
func (u *uploader) send(method, target string, body []byte, headers ...string) *http.Response {
	r, _ := http.NewRequest(method, u.url+target, bytes.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil
	}
	_, err = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil
	}
	return resp
}

// run uploads by PUT and by tus, in turn.
func (u *uploader) run(t *testing.T) {
	for {
		name, size := fmt.Sprintf("%s-%d", u.id, len(u.done)), rand.IntN(300_000)
		resp := u.send("PUT", "/"+name, patternOf(name, size))
		if resp == nil {
			return
		}
		if resp.StatusCode != 201 && resp.StatusCode != 204 {
			t.Errorf("PUT: %s", resp.Status)
			return
		}
		if u.done[name] = size; !u.resume(t) {
			return
		}
	}
}

// resume goes on with an upload, or begins one. It reports whether the server lives.
func (u *uploader) resume(t *testing.T) bool {
	tus := []string{"Tus-Resumable", "1.0.0", "Content-Type", "application/offset+octet-stream"}
	if u.upload == "" {
		u.name, u.size, u.offset = fmt.Sprintf("%s-t%d", u.id, len(u.done)), 500_000, 0
		resp := u.send("POST", "/-/tus/", nil, append(tus, "Upload-Length", strconv.Itoa(u.size), "Upload-Metadata", metadata("path", u.name, "overwrite", "1"))...)
		if resp == nil {
			return false
		}
		u.upload = resp.Header.Get("Location")
	}
	resp := u.send("HEAD", u.upload, nil, tus...)
	if resp == nil {
		return false
	}
	offset, err := strconv.Atoi(resp.Header.Get("Upload-Offset"))
	if err != nil || offset < u.offset {
		t.Errorf("HEAD of an upload: %s, at %d, and %d were acknowledged", resp.Status, offset, u.offset)
		return false
	}
	for u.offset = offset; u.offset < u.size; {
		end := min(u.offset+100_000, u.size)
		resp := u.send("PATCH", u.upload, patternOf(u.name, u.size)[u.offset:end], append(tus, "Upload-Offset", strconv.Itoa(u.offset))...)
		if resp == nil {
			return false
		}
		if resp.StatusCode != 204 {
			t.Errorf("PATCH: %s", resp.Status)
			return false
		}
		u.offset = end
	}
	u.done[u.name], u.upload = u.size, ""
	return true
}

// TestKilled kills servers that take uploads. Each file that was acknowledged must be there, each
// file that is there must be whole, and uploads go on where they were.
func TestKilled(t *testing.T) {
	name := filepath.Join(t.TempDir(), "v.folio")
	vol, err := folio.Open(name, &folio.Options{Create: true})
	check(t, err)
	check(t, vol.Close())
	uploaders := []*uploader{{id: "a", done: map[string]int{}}, {id: "b", done: map[string]int{}}, {id: "c", done: map[string]int{}}}
	for range *kills {
		cmd, url := startChild(t, name, "127.0.0.1:0")
		var group sync.WaitGroup
		for _, u := range uploaders {
			u.url = url
			group.Go(func() { u.run(t) })
		}
		time.AfterFunc(time.Duration(50+rand.IntN(400))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // it was killed
		group.Wait()
		mustBeWhole(t, name, uploaders)
	}
}

func mustBeWhole(t *testing.T, name string, uploaders []*uploader) {
	t.Helper()
	vol, err := folio.Open(name, nil)
	check(t, err)
	defer vol.Close()
	list, err := vol.ReadDir(".")
	check(t, err)
	there := make(map[string]int)
	for _, e := range list {
		if e.IsDir() {
			continue
		}
		data, err := vol.ReadFile(e.Name())
		check(t, err)
		if there[e.Name()] = len(data); !bytes.Equal(data, patternOf(e.Name(), len(data))) || strings.Contains(e.Name(), "-t") && len(data) != 500_000 {
			t.Errorf("%s: a part of a file, of %d bytes", e.Name(), len(data))
		}
	}
	for _, u := range uploaders {
		for name, size := range u.done {
			if n, ok := there[name]; !ok || n != size && strings.Contains(name, "-t") {
				t.Errorf("%s was acknowledged with %d bytes and has %d", name, size, n)
			}
		}
	}
	report, err := vol.Check(t.Context(), nil)
	if check(t, err); !report.OK() {
		t.Error(report.Problems)
	}
}
