//go:build unix

package pgstore

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// pollPair returns a connection that polls, and the other end.
func pollPair(t *testing.T) (c *pollConn, server net.Conn) {
	t.Helper()
	if runtime.NumCPU() == 1 {
		t.Skip("one processor")
	}
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	c = polled(client).(*pollConn)
	t.Cleanup(func() { _, _ = c.Close(), server.Close() })
	return c, server
}

// TestPoll reads answers that come before, while and after a connection polls, as well as the ends
// of waiting: a deadline and the end of the connection.
func TestPoll(t *testing.T) {
	c, server := pollPair(t)
	b := make([]byte, 8)
	for _, after := range []time.Duration{0, pollTime / 2, 20 * pollTime} {
		c.soon.Store(true)
		go func() {
			for begun := time.Now(); time.Since(begun) < after; {
				runtime.Gosched()
			}
			_, _ = server.Write([]byte("answer"))
		}()
		if n, err := c.Read(b); string(b[:n]) != "answer" || err != nil {
			t.Errorf("after %v: %q, %v", after, b[:n], err)
		}
	}
	if err := c.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, soon := range []bool{true, false} {
		c.soon.Store(soon)
		if n, err := c.Read(b); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a deadline: %d, %v", n, err)
		}
	}
	if err := errors.Join(c.SetReadDeadline(time.Time{}), server.Close()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c.soon.Store(true)
		if n, err := c.Read(b); n != 0 || err != io.EOF {
			t.Errorf("the end: %d, %v", n, err)
		}
	}
}

// TestPollOdds lets a server answer late for a while. Fewer and fewer reads poll then, until one
// finds an answer again.
func TestPollOdds(t *testing.T) {
	c, server := pollPair(t)
	b := make([]byte, 8)
	for range 200 {
		c.soon.Store(true)
		if err := c.SetReadDeadline(time.Now().Add(2 * pollTime)); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(b); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%d, %v", n, err)
		}
	}
	if polls := c.odds.wrong; polls < maxWrong || polls > 2*maxWrong {
		t.Errorf("%d of 200 reads polled", polls)
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	for range 1<<maxWrong + 1 {
		c.soon.Store(true)
		if _, err := server.Write([]byte("soon")); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(b); string(b[:n]) != "soon" || err != nil {
			t.Fatalf("an answer that was there: %q, %v", b[:n], err)
		}
	}
	if c.odds.wrong != 0 {
		t.Error("no read polled again")
	}
}

// TestPollTogether lets two goroutines wait for answers. Neither polls.
func TestPollTogether(t *testing.T) {
	c, server := pollPair(t)
	waiting.Add(1)
	defer waiting.Add(-1)
	c.soon.Store(true)
	if _, err := server.Write([]byte("answer")); err != nil {
		t.Fatal(err)
	}
	c.odds.wrong = 1
	b := make([]byte, 8)
	if n, err := c.Read(b); string(b[:n]) != "answer" || err != nil {
		t.Errorf("%q, %v", b[:n], err)
	}
	if c.odds.wrong != 1 {
		t.Error("it polled")
	}
}

// TestPollNear tells servers on the same machine from others, for which no read polls.
func TestPollNear(t *testing.T) {
	for _, test := range []struct {
		network, address string
		near             bool
	}{{"unix", "/run/socket", true}, {"tcp", "127.0.0.1:5432", true}, {"tcp", "[::1]:5432", true}, {"tcp", "192.0.2.1:5432", false}} {
		var a net.Addr
		var err error
		if test.network == "unix" {
			a, err = net.ResolveUnixAddr(test.network, test.address)
		} else {
			a, err = net.ResolveTCPAddr(test.network, test.address)
		}
		if err != nil || isNear(a) != test.near {
			t.Errorf("%s: near is %t, %v", test.address, isNear(a), err)
		}
	}
}
