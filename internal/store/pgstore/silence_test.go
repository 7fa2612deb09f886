//go:build unix

package pgstore_test

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

var silence = flag.Bool("silence", false, "lets the machine of a server vanish, in a network of its own: as root, with ip(8)")

// forwarderVariable makes the test binary the machine on which a server seems to be. Its value is
// the server's socket.
const forwarderVariable = "FOLIO_FORWARDER"

// maxStall is how long a call may take, or fail, because a server has gone.
const maxStall = 30 * time.Second

const serverMachine = "10.213.77.2:5432"

// forward passes connections on to a server.
func forward(socket string) {
	l, err := net.Listen("tcp", serverMachine)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready")
	for {
		client, err := l.Accept()
		if err != nil {
			log.Fatal(err)
		}
		server, err := net.Dial("unix", filepath.Join(socket, ".s.PGSQL.5432"))
		if err != nil {
			log.Fatal(err)
		}
		go func() { _, _ = io.Copy(client, server) }()
		go func() { _, _ = io.Copy(server, client) }()
	}
}

// TestSilence takes the server's machine off the network, so that nothing answers, not even to say
// that there is nobody. Calls must fail in time, and work again when the machine is back.
func TestSilence(t *testing.T) {
	if !*silence {
		t.Skip("it changes the network: -silence")
	}
	address := pgserver.Volume(t)
	socket := pgserver.Shared(t).Socket()
	ip := func(args string) {
		t.Helper()
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v, %s", args, err, out)
		}
	}
	ip("netns add folio-test")
	t.Cleanup(func() { ip("netns del folio-test") })
	ip("link add folio-test type veth peer name peer netns folio-test")
	ip("addr add 10.213.77.1/30 dev folio-test")
	ip("link set folio-test up")
	ip("-n folio-test addr add 10.213.77.2/30 dev peer")
	ip("-n folio-test link set peer up")
	machine := exec.Command("ip", "netns", "exec", "folio-test", os.Args[0])
	machine.Env = append(os.Environ(), forwarderVariable+"="+socket)
	out, err := machine.StdoutPipe()
	must.Do(t, err)
	must.Do(t, machine.Start())
	t.Cleanup(func() { _ = machine.Process.Kill(); _ = machine.Wait() })
	_, err = out.Read(make([]byte, 1))
	must.Do(t, err)
	_, volumeName, _ := strings.Cut(address, "&volume=")
	v := volume(t, "postgres://folio@"+serverMachine+"/postgres?sslmode=disable&volume="+volumeName)
	must.Do(t, v.WriteFile("file", []byte("text"), 0o644))
	for what, call := range map[string]func() error{
		"a change": func() error { return v.WriteFile("file", []byte("other"), 0o644) },
		"a read":   func() error { _, err := v.ReadFile("file"); return err },
	} {
		ip("-n folio-test link set peer down")
		start := time.Now()
		err := call()
		t.Logf("%s fails after %v: %v", what, time.Since(start), err)
		if took := time.Since(start); err == nil || took > maxStall {
			t.Errorf("%s took %v: %v", what, took, err)
		}
		ip("-n folio-test link set peer up")
		if err := call(); err != nil {
			t.Errorf("%s afterwards: %v", what, err)
		}
	}
}
