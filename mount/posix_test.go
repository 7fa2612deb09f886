//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/posixtest"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

var fsxOps = flag.Int("fsx.ops", 3000, "operations of fsx")

// TestPosix runs the tests of go-fuse for file systems.
func TestPosix(t *testing.T) {
	d := startDaemon(t, newVolume(t))
	for name, fn := range posixtest.All {
		t.Run(name, func(t *testing.T) {
			if name == "FcntlFlockLocksFile" || name == "OpenSymlinkRace" {
				t.Skip("go-fuse leaves it out as well")
			}
			dir := d.path(name)
			must.Do(t, os.Mkdir(dir, 0o755))
			d.within(time.Minute, name, func() { fn(t, dir) })
		})
	}
	d.stop()
	checkVolume(t, d.volume)
}

// pjdfstestConfig asks for all tests that Linux supports. Two users must be there.
const pjdfstestConfig = `[features]
posix_fallocate = {}
rename_ctime = {}
utime_now = {}
utimensat = {}
[settings]
naptime = 0.001
allow_remount = %v
[dummy_auth]
entries = [["nobody", "nogroup"], ["games", "games"]]
`

// TestPjdfstest runs pjdfstest, if it is there. The tests of a file system that becomes read-only
// run apart: they fail while another test of the same process still holds a file without a name.
func TestPjdfstest(t *testing.T) { pjdfstest(t, newVolume(t)) }

// TestServerPjdfstest is TestPjdfstest with a volume on a server of PostgreSQL.
func TestServerPjdfstest(t *testing.T) { pjdfstest(t, pgserver.Volume(t)) }

func pjdfstest(t *testing.T, volume string) {
	program, err := exec.LookPath("pjdfstest")
	if err != nil {
		t.Skip("pjdfstest is not there")
	}
	d := startDaemon(t, volume)
	must.Do(t, os.Chmod(d.dir, 0o777))
	must.Do(t, os.Chmod(filepath.Dir(filepath.Dir(d.dir)), 0o755)) // other users come here, too
	wrapper := t.TempDir()                                         // mount(8) asks a helper of that type of file system, which is not there
	mount, err := exec.LookPath("mount")
	must.Do(t, err)
	must.Do(t, os.WriteFile(filepath.Join(wrapper, "mount"), []byte("#!/bin/sh\nexec "+mount+" -i \"$@\"\n"), 0o755))
	t.Setenv("PATH", wrapper+":"+os.Getenv("PATH"))
	skipped := regexp.MustCompile(`(?m)^(\S+)\s+skipped$`)
	for _, remount := range []bool{false, true} {
		config := filepath.Join(t.TempDir(), "pjdfstest.toml")
		must.Do(t, os.WriteFile(config, fmt.Appendf(nil, pjdfstestConfig, remount), 0o644))
		args := []string{"-c", config, "-p", d.dir, "-s", t.TempDir()}
		if remount {
			args = append(args, "erofs")
		}
		out, err := d.run(5*time.Minute, program, args...)
		if err != nil || strings.Contains(out, "FAILED") {
			t.Errorf("%v\n%s", err, out)
		}
		for _, m := range skipped.FindAllStringSubmatch(out, -1) {
			if remount || !strings.Contains(m[1], "::erofs_") {
				t.Logf("left out: %s", m[1])
			}
		}
		t.Log(out[strings.LastIndex(out, "Summary"):])
	}
	d.stop()
	checkVolume(t, d.volume)
}

const fsxConfig = `flen = 1048576
[weights]
close_open = 1
read = 10
write = 10
mapread = 10
mapwrite = 10
invalidate = 1
truncate = 5
fsync = 0.1
fdatasync = 0.1
posix_fallocate = 2
punch_hole = 3
sendfile = 3
posix_fadvise = 1
copy_file_range = 3
`

// fsxRound is after how many operations the volume is mounted again.
const fsxRound = 10_000

// fsxEmpty matches what fsx says in the end if it has asked for an allocation of nothing, which is
// EINVAL in any file system.
var fsxEmpty = regexp.MustCompile(`(\d+) POSIX_FALLOCATE .*\( +0x0 bytes\)\s*$`)

// TestFsx runs fsx, if it is there.
func TestFsx(t *testing.T) {
	program, err := exec.LookPath("fsx")
	if err != nil {
		t.Skip("fsx is not there")
	}
	config := filepath.Join(t.TempDir(), "fsx.toml")
	must.Do(t, os.WriteFile(config, []byte(fsxConfig), 0o644))
	volume, seed := newVolume(t), time.Now().UnixNano()%1e6
	start, done, rounds := time.Now(), 0, 0
	for ; done < *fsxOps; rounds++ {
		d := startDaemon(t, volume)
		n := min(fsxRound, *fsxOps-done)
		out, err := d.run(10*time.Minute, program, "-f", config, "-N", fmt.Sprint(n), "-S", fmt.Sprint(seed+int64(done)), d.path("file"))
		d.stop()
		if m := fsxEmpty.FindStringSubmatch(out); err != nil && m != nil {
			n, err = strconv.Atoi(m[1])
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed+int64(done), err, out)
		}
		done += n
	}
	checkVolume(t, volume)
	t.Logf("%d operations in %d rounds, in %v; the first seed was %d", done, rounds, time.Since(start), seed)
}
