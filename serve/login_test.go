package serve_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"

	"github.com/foliofs/folio/serve"
)

// testUsers are ann with bcrypt, bob with argon2id, and a program with a token. The password of
// each is the name twice.
func testUsers(t testing.TB) *serve.Users {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte("annann"), bcrypt.MinCost)
	check(t, err)
	sum := argon2.IDKey([]byte("bobbob"), []byte("saltsalt"), 1, 64, 1, 32)
	token := sha256.Sum256([]byte("robotrobot"))
	u, err := serve.ParseUsers(strings.NewReader(fmt.Sprintf("# users\nann:%s\n\nbob:$argon2id$v=19$m=64,t=1,p=1$%s$%s\nrobot:sha256:%s\n",
		strings.Replace(string(hash), "$2a$", "$2y$", 1), base64.RawStdEncoding.EncodeToString([]byte("saltsalt")), base64.RawStdEncoding.EncodeToString(sum), hex.EncodeToString(token[:]))))
	check(t, err)
	return u
}

// as returns the header by which a user logs in.
func as(name string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+name+name))
}

func TestUsers(t *testing.T) {
	h := newServer(t, newVolume(t), serve.Options{Users: testUsers(t)})
	for _, tt := range []struct {
		header string
		status int
	}{
		{as("ann"), 200},
		{as("ann"), 200},
		{as("bob"), 200},
		{"Bearer robotrobot", 200},
		{"bearer robotrobot", 200},
		{as("robot"), 401},
		{as("eve"), 401},
		{"Bearer annann", 401},
		{"Bearer ", 401},
		{"Basic !", 401},
		{"", 401},
		{"Digest x", 401},
		{"Basic " + base64.StdEncoding.EncodeToString([]byte("ann:")), 401},
	} {
		w := do(h, "GET", "/hello.txt", "", "Authorization", tt.header)
		if w.Code != tt.status {
			t.Errorf("%q: %d, want %d", tt.header, w.Code, tt.status)
		}
		if tt.status == 401 && w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%q: no way to log in", tt.header)
		}
	}
	must(t, h, 200, "GET", "/healthz", "")
	must(t, h, 401, "GET", "/metrics", "")
	must(t, h, 401, "GET", "/nothing", "")
	must(t, h, 401, "GET", "/-/archive/.zip", "")
}

// TestGuessing checks that an address cannot try passwords for ever, and that other addresses still
// can.
func TestGuessing(t *testing.T) {
	h := newServer(t, newVolume(t), serve.Options{Users: testUsers(t)})
	for range 10 {
		must(t, h, 401, "GET", "/hello.txt", "", "Authorization", as("eve"))
	}
	must(t, h, 429, "GET", "/hello.txt", "", "Authorization", as("ann"), "X-Forwarded-For", "10.1.2.3")
}

// TestGuessingAtOnce sends guesses at the same time: no more of them are looked at than one after
// the other. Who has logged in before, has a token, or comes from elsewhere is not kept out.
func TestGuessingAtOnce(t *testing.T) {
	proxy, err := serve.ParseProxy("192.0.2.1") // the address of requests of package httptest
	check(t, err)
	for _, client := range []string{"198.51.100.7", "2001:db8:1:2:%d::1"} {
		h := newServer(t, newVolume(t), serve.Options{Users: testUsers(t), TrustedProxies: []netip.Prefix{proxy}})
		from := func(i int) string { return strings.ReplaceAll(client, "%d", strconv.Itoa(i)) }
		must(t, h, 200, "GET", "/hello.txt", "", "Authorization", as("ann"), "X-Forwarded-For", from(0))
		var looked atomic.Int32
		var group sync.WaitGroup
		start := time.Now()
		for i := range 500 {
			group.Go(func() {
				if do(h, "GET", "/hello.txt", "", "Authorization", as("eve"+strconv.Itoa(i)), "X-Forwarded-For", from(i)).Code == 401 {
					looked.Add(1)
				}
			})
		}
		must(t, h, 200, "GET", "/hello.txt", "", "Authorization", as("bob"), "X-Forwarded-For", "203.0.113.9")
		t.Logf("%s: a right login meanwhile took %v", client, time.Since(start))
		group.Wait()
		if looked.Load() != 10 {
			t.Errorf("%s: %d guesses were looked at", client, looked.Load())
		}
		must(t, h, 429, "GET", "/hello.txt", "", "Authorization", as("eve"), "X-Forwarded-For", from(0))
		must(t, h, 200, "GET", "/hello.txt", "", "Authorization", as("ann"), "X-Forwarded-For", from(0))
		must(t, h, 200, "GET", "/hello.txt", "", "Authorization", "Bearer robotrobot", "X-Forwarded-For", from(0))
	}
}

// TestGuessingNetwork guesses from many addresses of one network.
func TestGuessingNetwork(t *testing.T) {
	proxy, err := serve.ParseProxy("192.0.2.1")
	check(t, err)
	h := newServer(t, newVolume(t), serve.Options{Users: testUsers(t), TrustedProxies: []netip.Prefix{proxy}})
	looked := 0
	for i := range 5000 {
		from := fmt.Sprintf("2001:db8:1:%x::1", i)
		if do(h, "GET", "/hello.txt", "", "Authorization", as("eve"), "X-Forwarded-For", from).Code == 401 {
			looked++
		}
	}
	if looked != 100 {
		t.Errorf("%d guesses were looked at", looked)
	}
}

func TestBadUsers(t *testing.T) {
	twice := "ann:$2y$04$abcdefghijklmnopqrstuuKMNiJiqgO4fYNEUVrvDWcUfbtwl5Ybe\r\nann:$2y$04$abcdefghijklmnopqrstuuKMNiJiqgO4fYNEUVrvDWcUfbtwl5Ybe"
	for text, want := range map[string]string{
		"ann":                                   "line 1: not NAME:HASH",
		"\n# x\nann:":                           "line 3: not NAME:HASH",
		"ann:secret":                            "line 1: the hash is neither",
		"ann:{SHA}x":                            "line 1: the hash is neither",
		"ann:$apr1$x$y":                         "line 1: the hash is neither",
		"ann:$2y$31$" + strings.Repeat("a", 53): "line 1: a bcrypt cost of 31 is too much",
		"-:$2y$04$x":                            "line 1: a name has letters",
		"a b:$2y$04$x":                          "line 1: a name has letters",
		"*:$2y$04$x":                            "line 1: a name has letters",
		"ann:sha256:12":                         "line 1: a token is sha256",
		"ann:$argon2id$v=19$m=4194304,t=1,p=1$c2FsdHNhbHQ$" + strings.Repeat("A", 43): "line 1: argon2id with m=4194304,t=1,p=1 is too much",
		"ann:$argon2id$v=19$m=64,t=0,p=1$c2FsdHNhbHQ$" + strings.Repeat("A", 43):      "line 1: not $argon2id$",
		"ann:$argon2id$v=19": "line 1: not $argon2id$",
		"\xef\xbb\xbfann:sha256:" + strings.Repeat("0", 64):                    "line 1: a name has letters",
		"ann:sha256:" + strings.Repeat("0", 64) + " x":                         "line 1: a token is sha256",
		"ann:$2y$04$abcdefghijklmnopqrstuuKMNiJiqgO4fYNEUVrvDWcUfbtwl5Ybe\x00": "line 1: the hash is neither",
		"ann:$2y$04$short": "line 1: the hash is neither",
		"ann:$argon2id$v=19$m=64,t=1,p=1$!$" + strings.Repeat("A", 43):                 "line 1: not $argon2id$",
		"ann:$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$AAAA":                             "line 1: not $argon2id$",
		"ann:$argon2id$v=19$m=-1,t=1,p=1$c2FsdHNhbHQ$" + strings.Repeat("A", 43):       "line 1: not $argon2id$",
		"ann:$argon2id$v=16$m=64,t=1,p=1$c2FsdHNhbHQ$" + strings.Repeat("A", 43):       "line 1: not $argon2id$",
		"ann:$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$" + strings.Repeat("A", 43) + "$": "line 1: not $argon2id$",

		strings.Repeat("a", 1<<20): "line 1: ",
		twice:                      "line 2: the name comes a second time",
	} {
		if _, err := serve.ParseUsers(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestBadRights(t *testing.T) {
	for text, want := range map[string]string{
		"ann":                      `line 1: "" is none of the rights`,
		"ann rw /":                 `line 1: "rw" is none of the rights`,
		"ann Write /":              `line 1: "Write" is none of the rights`,
		"\n# x\nann read":          `line 3: "" does not begin with a slash`,
		"ann read a":               `line 1: "a" does not begin with a slash`,
		"ann read\t/":              `line 1: "read\t/" is none of the rights`,
		"ann read /\nbob write \n": `line 2: "" does not begin with a slash`,
		"ann read \x00/":           `line 1: "\x00/" does not begin with a slash`,
		strings.Repeat("a", 1<<20): "line 1: ",
	} {
		if _, err := serve.ParseRights(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

func TestRights(t *testing.T) {
	rights, err := serve.ParseRights(strings.NewReader("# who may what\n- read /\n- none /a\nann write /\nann read /ro\nbob read /a/b\n- upload /in\nann write /in\n"))
	check(t, err)
	vol := newVolume(t)
	check(t, vol.MkdirAll("site/in", 0o755))
	check(t, vol.WriteFile("site/in/theirs", []byte(secret), 0o644))
	check(t, vol.Symlink("a/b/c.txt", "site/shortcut"))
	h := newServer(t, vol, serve.Options{Users: testUsers(t), Rights: rights, Write: true})
	for _, tt := range []struct {
		user, target string
		status       int
	}{
		{"", "/hello.txt", 200},
		{"", "/a/", 401},
		{"", "/a/b/c.txt", 401},
		{"", "/dirlink/c.txt", 401},
		{"", "/shortcut", 401},
		{"", "/in/theirs", 401},
		{"", "/in/", 200},
		{"ann", "/hello.txt", 200},
		{"ann", "/in/theirs", 200},
		{"ann", "/ro/fixed", 200},
		{"bob", "/a/b/c.txt", 200},
		{"bob", "/shortcut", 200},
		{"bob", "/a/", 404},
		{"bob", "/in/theirs", 403},
		{"bob", "/ro/fixed", 200},
	} {
		headers := []string{"Accept", "text/html"}
		if tt.user != "" {
			headers = append(headers, "Authorization", as(tt.user))
		}
		w := do(h, "GET", tt.target, "", headers...)
		if w.Code != tt.status {
			t.Errorf("%s %s: %d, want %d", tt.user, tt.target, w.Code, tt.status)
		}
		if tt.user != "ann" && (strings.Contains(w.Body.String(), secret) || tt.target == "/in/" && strings.Contains(w.Body.String(), "theirs")) {
			t.Errorf("%s sees what is in %s", tt.user, tt.target)
		}
	}
	zip := must(t, h, 200, "GET", "/-/archive/.tar", "").Body.String()
	if strings.Contains(zip, "deep") || strings.Contains(zip, secret) {
		t.Error("an archive has what the user may not see")
	}
	for text, want := range map[string]string{"ann writ /": `line 1: "writ" is none of`, "\nann write x": `line 2: "x" does not begin`, "ann": `line 1: "" is none of`} {
		if _, err := serve.ParseRights(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestLogin checks that logging in leads to a path of this server only.
func TestLogin(t *testing.T) {
	h := newServer(t, newVolume(t), serve.Options{Users: testUsers(t), Base: "/files"})
	must(t, h, 401, "GET", "/files/-/login?to=/files/a/", "")
	for to, want := range map[string]string{
		"/files/a/": "/files/a/", "/files/a%2520b%3Fview": "/files/a%20b?view", "": "/files/",
		"//example.com": "/files/", "/%5Cexample.com": "/files/", "https://example.com": "/files/", "/other": "/files/", "/files/..//example.com": "/files/", "javascript:alert(1)": "/files/",
		"/files%0d%0aSet-Cookie:x": "/files/", "///example.com/files": "/files/", "/files%09/x": "/files/", "http:/files/": "/files/",
	} {
		w := must(t, h, 303, "GET", "/files/-/login?to="+to, "", "Authorization", as("ann"))
		if got := w.Header().Get("Location"); got != want {
			t.Errorf("%s leads to %s, want %s", to, got, want)
		}
	}
}
