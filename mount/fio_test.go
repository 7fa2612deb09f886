//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"flag"
	"os/exec"
	"testing"
	"time"
)

var fioSize = flag.String("fio.size", "64m", "how much TestFio writes in each way")

// fioEngines are ways in which fio writes and reads. It verifies while it writes, and in the end.
var fioEngines = map[string][]string{
	"calls":  {"--ioengine=psync", "--bsrange=4k-128k"},
	"direct": {"--ioengine=psync", "--bsrange=4k-128k", "--direct=1"},
	"maps":   {"--ioengine=mmap", "--bs=4k"},
}

// TestFio lets fio write at random places, read what it wrote, and compare the sums of each block.
// Afterwards the volume is mounted again, and fio reads all of it.
func TestFio(t *testing.T) {
	program, err := exec.LookPath("fio")
	if err != nil {
		t.Skip("fio is not there")
	}
	for name, engine := range fioEngines {
		t.Run(name, func(t *testing.T) {
			d := startDaemon(t, newVolume(t))
			args := append([]string{
				"--name=verify", "--filename=" + d.path("file"), "--size=" + *fioSize, "--rw=randwrite",
				"--verify=crc32c", "--verify_fatal=1", "--verify_backlog=512", "--randseed=1", "--fsync=256", "--verify_state_save=0",
			}, engine...)
			fio := func(more ...string) {
				t.Helper()
				if out, err := d.run(30*time.Minute, program, append(args, more...)...); err != nil {
					t.Fatalf("fio: %v\n%s", err, out)
				}
			}
			fio()
			d.stop()
			d.start()
			fio("--verify_only=1", "--verify_backlog=0")
			d.stop()
			checkVolume(t, d.volume)
		})
	}
}
