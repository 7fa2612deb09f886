package serve_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/foliofs/folio/serve"
)

// A syncBuffer is a log that is read while it is written.
type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// userLine returns the line of a user whose password has the least cost.
func userLine(t testing.TB, name, password string) string {
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	check(t, err)
	return name + ":" + string(hash) + "\n"
}

// until waits until something holds.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// TestFollow changes the users and rights of a server. They count soon, for requests by all ways,
// and no connection is cut. Files that cannot be used change nothing, and the log and /healthz say
// so.
func TestFollow(t *testing.T) {
	serve.ReadEvery(t, 10*time.Millisecond)
	dir := t.TempDir()
	files := &serve.Files{Users: filepath.Join(dir, "users"), Rights: filepath.Join(dir, "rights")}
	write := func(name, text string) {
		t.Helper()
		check(t, os.WriteFile(name+".new", []byte(text), 0o600))
		check(t, os.Rename(name+".new", name))
	}
	users := userLine(t, "ann", "annann") + userLine(t, "bob", "bobbob")
	write(files.Users, users)
	write(files.Rights, "- read /\nann write /\nbob write /\nanna write /\n")
	settings, err := files.Read()
	check(t, err)
	var log syncBuffer
	o := writable
	o.Users, o.Rights, o.Notices = settings.Users, settings.Rights, slog.New(slog.NewTextHandler(&log, nil))
	vol := newVolume(t)
	h := newServer(t, vol, o)
	if !strings.Contains(log.String(), "do not exist") || !strings.Contains(log.String(), "users=anna\n") {
		t.Errorf("the rule about anna is not in the log: %s", &log)
	}
	again := make(chan struct{})
	go h.Follow(t.Context(), files, again)
	url := listen(t, h)
	ann, bob := []string{"Authorization", as("ann")}, []string{"Authorization", as("bob")}
	link := makeShare(t, h, `{"path":"a"}`, bob...)
	must(t, h, 200, "GET", link+"b/c.txt", "")

	// An upload under way, and a connection that the response cache answers.
	upload, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	check(t, err)
	defer upload.Close()
	_, err = io.WriteString(upload, "PUT /new HTTP/1.1\r\nHost: localhost\r\nAuthorization: "+as("ann")+"\r\nContent-Length: 4\r\n\r\nte")
	check(t, err)
	reader, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	check(t, err)
	defer reader.Close()
	answers := bufio.NewReader(reader)
	ask := func() int {
		t.Helper()
		_, err := io.WriteString(reader, "GET /hello.txt HTTP/1.1\r\nHost: localhost\r\n\r\n")
		check(t, err)
		resp, err := http.ReadResponse(answers, nil)
		check(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		check(t, err)
		return resp.StatusCode
	}
	for range 5 {
		if code := ask(); code != 200 {
			t.Fatal(code)
		}
	}
	if serve.Repeated(h) == 0 {
		t.Fatal("the response cache has answered nothing")
	}

	for _, broken := range []string{"ann:secret\n", ""} {
		if broken == "" {
			check(t, os.Remove(files.Users))
		} else {
			write(files.Users, broken)
		}
		n := strings.Count(log.String(), files.Users)
		until(t, "the log names the file", func() bool { return strings.Count(log.String(), files.Users) > n || broken == "" && n > 1 })
		must(t, h, 200, "GET", "/hello.txt", "", ann...)
		if text := must(t, h, 200, "GET", "/healthz", "").Body.String(); !strings.HasPrefix(text, "ok\nwarning: ") || strings.Contains(text, dir) {
			t.Errorf("/healthz: %q", text)
		}
	}
	if strings.Contains(log.String(), "secret") {
		t.Errorf("the log has a line of the file: %s", &log)
	}

	write(files.Rights, "* read /\nann write /\n")
	write(files.Users, userLine(t, "ann", "another")) // bob is gone
	until(t, "the new password counts", func() bool {
		return do(h, "GET", "/hello.txt", "", "Authorization", "Basic YW5uOmFub3RoZXI=").Code == 200
	})
	must(t, h, 401, "GET", "/hello.txt", "", ann...) // though it was remembered
	must(t, h, 401, "GET", "/hello.txt", "", bob...)
	must(t, h, 410, "GET", link+"b/c.txt", "")
	if code := ask(); code != 401 {
		t.Errorf("the response cache still answers: %d", code)
	}
	if text := must(t, h, 200, "GET", "/healthz", "").Body.String(); text != "ok\n" {
		t.Errorf("/healthz: %q", text)
	}
	_, err = io.WriteString(upload, "xt")
	check(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(upload), nil)
	check(t, err)
	if resp.StatusCode != 201 || content(t, vol, "site/new") != "text" {
		t.Errorf("the upload under way: %s", resp.Status)
	}

	// By a signal, also what cannot be seen from outside.
	n := strings.Count(log.String(), "read again")
	again <- struct{}{}
	until(t, "the signal counts", func() bool { return strings.Count(log.String(), "read again") > n })
}

// TestFollowCertificate changes the certificate of a server. New connections get the new one, and
// old ones go on.
func TestFollowCertificate(t *testing.T) {
	serve.ReadEvery(t, 50*time.Millisecond)
	dir := t.TempDir()
	files := &serve.Files{Certificate: filepath.Join(dir, "crt"), Key: filepath.Join(dir, "key")}
	now, day := time.Now(), 24*time.Hour
	renew := func(name string, from, to time.Time) {
		t.Helper()
		cert, key := makeCertificate(t, name, from, to)
		check(t, os.WriteFile(files.Certificate, cert, 0o600))
		check(t, os.WriteFile(files.Key, key, 0o600))
	}
	renew("one", now.Add(-day), now.Add(100*day))
	settings, err := files.Read()
	check(t, err)
	var log syncBuffer
	o := writable
	o.Notices = slog.New(slog.NewTextHandler(&log, nil))
	h := newServer(t, newVolume(t), o)
	go h.Follow(t.Context(), files, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	go func() { _ = h.Serve(t.Context(), l, settings.Certificate) }()
	dial := func() (*tls.Conn, string) {
		t.Helper()
		c, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		check(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c, c.ConnectionState().PeerCertificates[0].Subject.CommonName
	}
	health := func(c *tls.Conn) (text, hsts string) {
		t.Helper()
		_, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		check(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		check(t, err)
		body, err := io.ReadAll(resp.Body)
		check(t, err)
		return string(body), resp.Header.Get("Strict-Transport-Security")
	}
	old, name := dial()
	if text, hsts := health(old); text != "ok\n" || name != "one" || hsts == "" {
		t.Errorf("%q, %q, %q", name, text, hsts)
	}
	renew("two", now.Add(-100*day), now.Add(5*day))
	until(t, "the second certificate", func() bool { _, name := dial(); return name == "two" })
	if text, _ := health(old); !strings.HasPrefix(text, "ok\nwarning: the certificate expires at ") {
		t.Errorf("%q", text)
	}
	until(t, "the log says when it expires", func() bool { return strings.Contains(log.String(), "the certificate expires at ") })
	renew("three", now.Add(-2*day), now.Add(-day))
	until(t, "the log names the file", func() bool { return strings.Contains(log.String(), files.Certificate) })
	if _, name := dial(); name != "two" {
		t.Errorf("an expired certificate counts: %s", name)
	}
	renew("four", now.Add(-time.Hour), now.Add(6*day)) // a short life, of which most is left
	until(t, "the fourth certificate", func() bool { _, name := dial(); return name == "four" })
	if text, _ := health(old); text != "ok\n" {
		t.Errorf("%q", text)
	}
	if w := serve.CertificateWarning(h, now.Add(7*day)); !strings.Contains(w, "has expired at") {
		t.Errorf("%q", w)
	}
	if must(t, h, 200, "GET", "/healthz", "").Header().Get("Strict-Transport-Security") != "" {
		t.Error("HSTS without TLS")
	}
}
