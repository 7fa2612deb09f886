//go:build unix

package main

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// postgresProgram finds a program of a PostgreSQL server, which Debian keeps out of the way.
func postgresProgram(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1]
}

// startPostgres starts a server for the test, which listens on a socket only, and returns its
// address. The server refuses to run as root, so the test runs it as the user nobody.
func startPostgres(t *testing.T) (address string) {
	t.Helper()
	initdb, ctl := postgresProgram("initdb"), postgresProgram("pg_ctl")
	if initdb == "" || ctl == "" {
		t.Skip("PostgreSQL is measured with a server, which is not installed (Debian's package postgresql)")
	}
	dir, err := os.MkdirTemp("/tmp", "pg") // the name of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	credential := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		uid, gid := nobody(t)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		credential.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	call := func(name string, args ...string) error {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.SysProcAttr = dir, credential
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			return err
		}
		defer out.Close()
		cmd.Stdout, cmd.Stderr = out, out // the server keeps them open
		err = cmd.Run()
		if text, _ := os.ReadFile(out.Name()); err != nil {
			t.Logf("%s: %s", name, text)
		}
		return err
	}
	data := filepath.Join(dir, "data")
	if err := call(initdb, "-D", data, "-U", "lab", "-A", "trust", "--no-sync"); err != nil {
		t.Fatal(err)
	}
	options := "-c listen_addresses= -c max_connections=50 -k " + dir
	if err := call(ctl, "-D", data, "-w", "-l", filepath.Join(dir, "log"), "-o", options, "start"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = call(ctl, "-D", data, "-m", "immediate", "-w", "stop") })
	return "postgres://lab@/postgres?host=" + dir
}

func nobody(t *testing.T) (uid, gid int) {
	t.Helper()
	u, err := user.Lookup("nobody")
	if err != nil {
		t.Skip("PostgreSQL does not run as root, and there is no user nobody")
	}
	uid, _ = strconv.Atoi(u.Uid)
	gid, _ = strconv.Atoi(u.Gid)
	return uid, gid
}

// PostgreSQL takes part in the workloads that write, when the address of a server is given, in the
// groups that it can promise. It leaves nothing on the server.
func TestPostgres(t *testing.T) {
	dir := isolate(t)
	address := startPostgres(t)
	s, _ := measured(
		t, filepath.Join(dir, "run.jsonl"), "run", "write", "--samples", "2", "--contenders", "engine,postgres", "--postgres", address, "--dirs", filepath.Join(dir, "stores"),
		"--write.inserts", "50", "--write.writers", "3", "--write.records", "5", "--write.tasks", "3",
	)
	if len(s.Failures) > 0 {
		t.Errorf("failures %+v", s.Failures)
	}
	for i := range s.Cases {
		c := &s.Cases[i]
		if n := len(s.Of(c.ID, "postgres")); (n == 2) != (c.Group != workload.None) {
			t.Errorf("%s has %d samples of PostgreSQL", c.ID, n)
		}
	}
	for i := range s.Samples {
		m := &s.Samples[i]
		want := map[workload.Group]string{workload.Consistent: "off", workload.Durable: "on"}[s.Case(m.Case).Group]
		if m.Contender == "postgres" && (m.Settings["synchronous_commit"] != want || m.Settings["fsync"] != "on") {
			t.Errorf("%s: settings %v", m.Case, m.Settings)
		}
	}
	if psql := postgresProgram("psql"); psql != "" {
		left, err := exec.Command(psql, address, "-At", "-c", "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'folio%'").CombinedOutput()
		if strings.TrimSpace(string(left)) != "0" {
			t.Errorf("schemas left on the server: %s, %v", left, err)
		}
	}
}

// A missing server is named, and the other contenders are measured.
func TestNoPostgres(t *testing.T) {
	dir := isolate(t)
	for _, args := range [][]string{nil, {"--postgres", "postgres://lab@/postgres?host=" + dir}} {
		out := filepath.Join(dir, strconv.Itoa(len(args))+".jsonl")
		code, _, stderr := lab(t, append([]string{
			"run", "write", "--samples", "1", "--contenders", "engine,postgres", "--write.shape", "sequential", "--write.inserts", "20",
			"--write.durability", "durable", "--dirs", filepath.Join(dir, "stores"), "--out", out,
		}, args...)...)
		s, err := result.ReadFile(out)
		if code != exitOK || err != nil {
			t.Fatalf("exit %d: %s, %v", code, stderr, err)
		}
		if len(s.Samples) != 1 || len(s.Failures)+len(s.Skips) == 0 || !strings.Contains(stderr, "postgres") {
			t.Errorf("%d samples, failures %+v, skipped %+v, said %s", len(s.Samples), s.Failures, s.Skips, stderr)
		}
	}
}
