//go:build unix

package main

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/store/pgstore/pgproxy"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
	"github.com/foliofs/folio/internal/store/pgstore/s3server"
)

// TestServer runs commands on a volume on a server. What they say never has the password.
func TestServer(t *testing.T) {
	t.Parallel()
	s := pgserver.ForTest(t)
	volume := strings.Replace(s.Address("test"), "folio@", "folio:secret@", 1)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	shown := strings.Replace(volume, ":secret", "", 1)
	for _, c := range []struct {
		args []string
		code int
		says string // a part of the output, or of the error
	}{
		{[]string{"ls", volume}, 1, "has no volume of that name"},
		{[]string{"create", volume}, 0, ""},
		{[]string{"create", volume}, 1, "exists already; name another volume"},
		{[]string{"create", "-f", volume}, 1, "on a server"},
		{[]string{"mkdir", "-p", volume + ":a/b"}, 0, ""},
		{[]string{"put", file, volume + ":a/b"}, 0, ""},
		{[]string{"cat", volume + ":/a/b/file"}, 0, "hello\n"},
		{[]string{"ls", "-l", volume + ":a/b"}, 0, "file"},
		{[]string{"cp", "-r", volume + ":a", volume + ":copy"}, 0, ""},
		{[]string{"cp", "-r", dir, volume + ":from-disk"}, 0, ""},
		{[]string{"cp", "-r", volume + ":a", filepath.Join(dir, "out")}, 0, ""},
		{[]string{"sync", dir, volume + ":synced"}, 0, ""},
		{[]string{"diff", dir, volume + ":synced"}, 0, ""},
		{[]string{"mv", volume + ":copy", volume + ":moved"}, 0, ""},
		{[]string{"grep", "hell", volume + ":moved"}, 0, shown + ":moved/b/file:hello"},
		{[]string{"find", "--name", "file", volume}, 0, shown + ":a/b/file"},
		{[]string{"rm", "-r", volume + ":moved"}, 0, ""},
		{[]string{"import", "-q", dir, volume + ":imported"}, 0, ""},
		{[]string{"import", "-q", dir, volume + ":a"}, 0, ""},
		{[]string{"import", "-q", dir, s.Address("new")}, 0, ""},
		{[]string{"export", "-q", s.Address("new"), filepath.Join(dir, "back")}, 0, ""},
		{[]string{"info", volume}, 0, shown + "\ntables      version "},
		{[]string{"check", volume}, 0, shown + ": ok"},
		{[]string{"du", "-s", volume}, 0, shown},
		{[]string{"compact", volume}, 1, shown + ": is on a server"},
		{[]string{"snapshot", "create", volume, "monday"}, 1, shown + ": is on a server"},
		{[]string{"cat", volume + ":none"}, 1, shown + ":none: no such file"},
		{[]string{"ls", strings.Replace(volume, "/postgres?", "/nothing?", 1)}, 1, `database "nothing" does not exist: make it first: createdb nothing, or name`},
		{[]string{"ls", "postgres://folio@localhost:1/nothing"}, 1, "connection refused"},
		{[]string{"ls", "postgres://folio:secret@/x?volume=A"}, 1, "cannot be the name of a volume"},
	} {
		var out, stderr bytes.Buffer
		code := run(t.Context(), c.args, nil, &out, &stderr)
		said := out.String() + stderr.String()
		if code != c.code || !strings.Contains(said, c.says) || strings.Contains(said, "secret") || strings.Count(stderr.String(), "\n") > 1 {
			t.Errorf("folio %q: exit %d, %s", c.args, code, said)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "out", "b", "file")); err != nil || string(text) != "hello\n" {
		t.Errorf("copied out: %q, %v", text, err)
	}
}

// TestServerScript runs scripts on a server. SERVER is an address to which the name of a volume is
// added.
func TestServerScript(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/server", map[string]string{"SERVER": pgserver.ForTest(t).Address("")})
}

// TestBucket runs commands on a volume whose large contents are in a bucket.
func TestBucket(t *testing.T) {
	t.Parallel()
	objects := s3server.Shared(t)
	t.Cleanup(s3server.Close)
	bucket := url.QueryEscape(objects.Address(s3server.Bucket(t)))
	s := pgserver.ForTest(t)
	volume, dir := s.Address("test"), t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, bytes.Repeat([]byte("hello\n"), 500_000), 0o644); err != nil {
		t.Fatal(err)
	}
	local := filepath.Join(dir, "local.folio")
	for _, c := range []struct {
		args []string
		code int
		says string // a part of the output, or of the error
	}{
		{[]string{"create", volume + "&bucket=" + bucket}, 0, ""},
		{[]string{"put", file, volume + ":"}, 0, ""},
		{[]string{"put", file, volume + ":other"}, 0, ""},
		{[]string{"get", volume + ":file", filepath.Join(dir, "back")}, 0, ""},
		{[]string{"diff", file, volume + ":file"}, 0, ""},
		{[]string{"info", volume}, 0, "s3://test-1"},
		{[]string{"info", "--json", volume}, 0, `"bucket":"s3://test-1"`},
		{[]string{"rm", volume + ":file"}, 0, ""},
		{[]string{"gc", volume}, 0, "0 objects removed, "},
		{[]string{"gc", "--json", "--unnamed", "1h", volume}, 0, `"removed":0`},
		{[]string{"check", volume}, 0, ": ok"},
		{[]string{"create", s.Address("other") + "&bucket=" + bucket}, 1, "belongs to another volume"},
		{[]string{"create", local}, 0, ""},
		{[]string{"gc", local}, 1, "is a volume in a file"},
	} {
		var out, stderr bytes.Buffer
		code := run(t.Context(), c.args, nil, &out, &stderr)
		if said := out.String() + stderr.String(); code != c.code || !strings.Contains(said, c.says) || strings.Count(stderr.String(), "\n") > 1 {
			t.Errorf("folio %q: exit %d, %s", c.args, code, said)
		}
	}
	for _, path := range objects.Objects("test-1") {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	var out, stderr bytes.Buffer
	if code := run(t.Context(), []string{"check", volume}, nil, &out, &stderr); code != 1 || !strings.Contains(out.String(), "is missing in the bucket") {
		t.Errorf("check: exit %d, %s%s", code, &out, &stderr)
	}
}

// TestTrips counts how often a command waits for the server of a volume: 1 to connect, as this
// server asks for no password. TLS takes 2 more, and a password 2.
func TestTrips(t *testing.T) {
	t.Parallel()
	p, volume, err := pgproxy.New(pgserver.ForTest(t).Address("test"), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		most int64 // 0 is not looked at
		args []string
	}{
		{3, []string{"create", volume}},
		{0, []string{"mkdir", "-p", volume + ":a/b"}},
		{10, []string{"put", file, volume + ":a/b"}},
		{10, []string{"put", file, volume + ":a/b"}},
		{8, []string{"ls", volume + ":a/b"}},
		{8, []string{"ls", "-l", volume + ":a/b"}},
		{8, []string{"cat", volume + ":a/b/file"}},
		{8, []string{"stat", volume + ":a/b/file"}},
		{11, []string{"rm", volume + ":a/b/file"}},
	} {
		before := p.Trips()
		var out, stderr bytes.Buffer
		if code := run(t.Context(), c.args, nil, &out, &stderr); code != 0 {
			t.Errorf("folio %q: exit %d, %s", c.args, code, &stderr)
		}
		trips := p.Trips() - before
		if c.most > 0 && trips > c.most {
			t.Errorf("folio %s takes %d trips, want at most %d", c.args[0], trips, c.most)
		}
		t.Logf("folio %-8s %3d trips", c.args[0], trips)
	}
}
