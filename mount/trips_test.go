//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store/pgstore/pgproxy"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

var network = flag.Duration("network", 0, "the round-trip time of the network in TestTrips, such as 2.3ms")

// TestTrips counts how often operations on a mount wait for the server. Counts do not depend on the
// machine. Each number is for the whole operation with all requests that the kernel makes of it.
// The second number is for a mount whose user allows answers that are some seconds old.
func TestTrips(t *testing.T) {
	t.Run("confirmed", func(t *testing.T) { testTrips(t, "", 0) })
	t.Run("stale", func(t *testing.T) { testTrips(t, "&max_staleness=1m", 1) })
}

func testTrips(t *testing.T, parameter string, column int) {
	needFUSE(t)
	address := pgserver.Volume(t)
	proxy, through, err := pgproxy.New(address, *network)
	must.Do(t, err)
	t.Cleanup(proxy.Close)
	d := startDaemon(t, through+parameter)
	const files = 20
	path := func(format string, i int) string { return d.path(fmt.Sprintf("dir/"+format, i)) }
	must.Do(t, os.Mkdir(d.path("dir"), 0o755))
	for i := range files {
		must.Do(t, os.WriteFile(path("file%d", i), []byte("content"), 0o644))
		must.Do(t, os.Symlink("target", path("link%d", i)))
	}
	must.Do(t, os.Mkdir(d.path("list"), 0o755))
	for i := range files {
		must.Do(t, os.WriteFile(d.path(fmt.Sprint("list/", i)), nil, 0o644))
	}
	dir, err := os.Open(d.path("dir")) // so that a path has one element, as for a program in the directory
	must.Do(t, err)
	defer dir.Close()
	at := int(dir.Fd())
	name := func(format string, i int) string { return fmt.Sprintf(format, i) }
	buf := make([]byte, 100)
	for _, c := range []struct {
		name string
		most [2]float64
		do   func(i int) error
	}{
		{"stat", [2]float64{1, 1}, func(i int) error {
			var st unix.Stat_t
			return unix.Fstatat(at, name("file%d", i), &st, 0)
		}},
		{"readlink", [2]float64{2, 1}, func(i int) error {
			_, err := unix.Readlinkat(at, name("link%d", i), buf)
			return err
		}},
		{"open, read, close", [2]float64{2, 2}, func(i int) error {
			fd, err := unix.Openat(at, name("file%d", i), unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			if n, err := unix.Read(fd, buf); err != nil || string(buf[:n]) != "content" {
				return fmt.Errorf("%q, %w", buf[:n], err)
			}
			_, err = unix.Read(fd, buf[:0])
			return err
		}},
		{"listxattr of an open file", [2]float64{1, 1}, func(int) error {
			_, err := unix.Flistxattr(at, buf)
			return err
		}},
		{"chmod", [2]float64{2, 1}, func(i int) error { return unix.Fchmodat(at, name("file%d", i), 0o600, 0) }},
		{"create, write, close", [2]float64{4, 5}, func(i int) error {
			fd, err := unix.Openat(at, name("new%d", i), unix.O_CREAT|unix.O_WRONLY, 0o644)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			_, err = unix.Write(fd, []byte("hello"))
			return err
		}},
		{"rename", [2]float64{3, 3}, func(i int) error { return unix.Renameat(at, name("new%d", i), at, name("moved%d", i)) }},
		{"unlink", [2]float64{2, 2}, func(i int) error { return unix.Unlinkat(at, name("moved%d", i), 0) }},
		{"mkdir", [2]float64{2, 3}, func(i int) error { return unix.Mkdirat(at, name("sub%d", i), 0o755) }},
		{"rmdir", [2]float64{4, 4}, func(i int) error { return unix.Unlinkat(at, name("sub%d", i), unix.AT_REMOVEDIR) }},
		{"ls", [2]float64{3, 2}, func(int) error {
			list, err := os.ReadDir(d.path("list"))
			if err == nil && len(list) != files {
				err = fmt.Errorf("%d names", len(list))
			}
			return err
		}},
	} {
		before, begun := proxy.Trips(), time.Now()
		for i := range files {
			if err := c.do(i); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		took, trips := time.Since(begun)/files, float64(proxy.Trips()-before)/files
		session := 0.2 + 3*took.Seconds() // the trips of the session, which lives by the clock
		if trips > c.most[column]+session {
			t.Errorf("%s takes %.2f trips, want at most %.0f", c.name, trips, c.most[column])
		}
		t.Logf("%-28s %5.2f trips %10v", c.name, trips, took.Round(time.Microsecond))
	}
	before, begun := proxy.Trips(), time.Now()
	must.Do(t, exec.Command("ls", "-lR", d.path("list")).Run())
	t.Logf("%-28s %5.0f trips %10v", fmt.Sprintf("ls -lR of %d files", files), float64(proxy.Trips()-before), time.Since(begun).Round(time.Microsecond))
}
