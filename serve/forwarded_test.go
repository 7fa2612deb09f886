package serve_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"github.com/foliofs/folio/serve"
)

// behind are options of a server that trusts proxies.
func behind(t testing.TB, log *bytes.Buffer, proxies ...string) serve.Options {
	t.Helper()
	o := serve.Options{Users: testUsers(t), Logger: slog.New(slog.NewJSONHandler(log, nil))}
	for _, text := range proxies {
		p, err := serve.ParseProxy(text)
		check(t, err)
		o.TrustedProxies = append(o.TrustedProxies, p)
	}
	return o
}

// TestForwarded checks whom the server takes for the client.
func TestForwarded(t *testing.T) {
	var log bytes.Buffer
	h := newServer(t, newVolume(t), behind(t, &log, "10.0.0.1", "10.1.0.0/16", "fd00::/8", "::ffff:10.2.0.1"))
	for _, tt := range []struct{ remote, header, client string }{
		{"10.0.0.1:1", "1.2.3.4", "1.2.3.4"},
		{"10.0.0.1:1", "1.2.3.4:5678", "1.2.3.4"},
		{"10.0.0.1:1", "6.6.6.6, 1.2.3.4", "1.2.3.4"},
		{"10.0.0.1:1", "6.6.6.6, 1.2.3.4, 10.1.2.3 ,10.0.0.1", "1.2.3.4"},
		{"10.0.0.1:1", "10.1.0.9,10.1.0.8", "10.1.0.9"},
		{"10.0.0.1:1", "2001:db8::1", "2001:db8::1"},
		{"10.0.0.1:1", "[2001:db8::1]:443", "2001:db8::1"},
		{"10.0.0.1:1", "::ffff:1.2.3.4", "1.2.3.4"},
		{"10.0.0.1:1", "fe80::1%eth0", "fe80::1"},
		{"[fd00::1]:1", "1.2.3.4", "1.2.3.4"},
		{"[::ffff:10.0.0.1]:1", "1.2.3.4", "1.2.3.4"},
		{"10.2.0.1:1", "1.2.3.4", "1.2.3.4"},
		// what is no address: the proxy next to it is the client
		{"10.0.0.1:1", "", "10.0.0.1"},
		{"10.0.0.1:1", "unknown", "10.0.0.1"},
		{"10.0.0.1:1", "1.2.3.4, x\n", "10.0.0.1"},
		{"10.0.0.1:1", "1.2.3.4, <script>, 10.1.0.7", "10.1.0.7"},
		{"10.0.0.1:1", "1.2.3.4,", "10.0.0.1"},
		{"10.0.0.1:1", "1.2.3", "10.0.0.1"},
		{"10.0.0.1:1", "1.2.3.4.5", "10.0.0.1"},
		{"10.0.0.1:1", "01.2.3.4", "10.0.0.1"},
		{"10.0.0.1:1", strings.Repeat("1.2.3.4,", 8000) + "10.1.0.7", "1.2.3.4"},
		{"10.0.0.1:1", strings.Repeat("10.1.0.7,", 8000), "10.0.0.1"},
		// from elsewhere the header says nothing
		{"10.0.0.2:1", "1.2.3.4", "10.0.0.2:1"},
		{"1.2.3.4:99", "10.0.0.1", "1.2.3.4:99"},
		{"[2001:db8::2]:1", "1.2.3.4", "[2001:db8::2]:1"},
		{"@", "1.2.3.4", "@"},
		{"", "1.2.3.4", ""},
	} {
		log.Reset()
		do(h, "GET", "/hello.txt", "", "Remote-Addr", tt.remote, "X-Forwarded-For", tt.header, "Forwarded", "for=9.9.9.9", "X-Real-IP", "9.9.9.9")
		var line struct{ Client string }
		check(t, json.Unmarshal(log.Bytes(), &line))
		if line.Client != tt.client {
			t.Errorf("%q for %.60q: %q, want %q", tt.remote, tt.header, line.Client, tt.client)
		}
	}
	for _, text := range []string{"", "x", "10.0.0.1:80", "10.0.0.0/33", "fe80::1%eth0", "10.0.0.1 ", "0"} {
		if p, err := serve.ParseProxy(text); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
	if p, err := serve.ParseProxy("10.1.2.3/8"); err != nil || p != netip.MustParsePrefix("10.0.0.0/8") {
		t.Errorf("%v, %v", p, err)
	}
}

// TestForwardedUnix checks that a proxy that comes by a Unix socket is believed if it is trusted.
func TestForwardedUnix(t *testing.T) {
	var log bytes.Buffer
	h := newServer(t, newVolume(t), behind(t, &log, "unix", "10.0.0.1"))
	for _, tt := range []struct{ remote, header, client string }{
		{"@", "6.6.6.6, 1.2.3.4", "1.2.3.4"},
		{"@", "1.2.3.4, 10.0.0.1", "1.2.3.4"},
		{"", "1.2.3.4", "1.2.3.4"},
		{"@", "", "@"},
		{"@", "unknown", "@"},
		{"6.6.6.6:1", "1.2.3.4", "6.6.6.6:1"},
	} {
		log.Reset()
		do(h, "GET", "/hello.txt", "", "Remote-Addr", tt.remote, "X-Forwarded-For", tt.header)
		var line struct{ Client string }
		check(t, json.Unmarshal(log.Bytes(), &line))
		if line.Client != tt.client {
			t.Errorf("%q for %q: %q, want %q", tt.remote, tt.header, line.Client, tt.client)
		}
	}
}

// TestForwardedGuessing checks that wrong passwords of one client of a proxy do not keep the others
// out, and that no client makes up addresses to go on guessing.
func TestForwardedGuessing(t *testing.T) {
	var log bytes.Buffer
	h := newServer(t, newVolume(t), behind(t, &log, "10.0.0.1"))
	send := func(status int, user, forwarded string) {
		t.Helper()
		must(t, h, status, "GET", "/hello.txt", "", "Authorization", as(user), "Remote-Addr", "10.0.0.1:1", "X-Forwarded-For", forwarded)
	}
	for i := range 10 {
		send(401, "eve", strings.Repeat("7.7.7.7, ", i)+"6.6.6.6")
	}
	send(429, "eve", "8.8.8.8, 6.6.6.6")
	send(429, "ann", "6.6.6.6")
	send(200, "ann", "6.6.6.7")
	send(200, "ann", "6.6.6.6, 6.6.6.8")
	for range 10 {
		send(401, "eve", "2001:db8::1")
	}
	send(429, "ann", "2001:db8::2") // the same network
	must(t, h, 429, "GET", "/hello.txt", "", "Authorization", as("ann"), "Remote-Addr", "6.6.6.6:1")
	must(t, h, 200, "GET", "/hello.txt", "", "Authorization", as("ann"), "Remote-Addr", "10.0.0.1:1")
}

// TestForwardedCached checks that requests which are answered again are those of their clients,
// too.
func TestForwardedCached(t *testing.T) {
	var log bytes.Buffer
	o := behind(t, &log, "127.0.0.0/8")
	o.Users = nil
	l := newPipeListener()
	s := newServer(t, newVolume(t), o)
	go func() { _ = s.Serve(t.Context(), l, nil) }()
	conn := l.dial(t)
	for range 5 {
		talk(t, conn, get("/hello.txt", "X-Forwarded-For: 1.2.3.4"))
	}
	if n := serve.Repeated(s); n != 0 {
		t.Errorf("%d answers without a look at the address", n)
	}
}
