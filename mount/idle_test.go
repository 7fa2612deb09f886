//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// TestIdle measures what a daemon does while nothing happens, after something has happened. A
// second of processor time an hour is 0.28 ms each second.
func TestIdle(t *testing.T) {
	d := startDaemon(t, newVolume(t))
	for i := range 200 {
		must.Do(t, os.WriteFile(d.path(fmt.Sprint("file", i)), []byte("content"), 0o644))
	}
	vol, err := folio.Open(d.volume, nil)
	must.Do(t, err)
	must.Do(t, vol.Update(context.Background(), func(tx *folio.Tx) error { return tx.WriteFile("other", nil, 0o644) }))
	must.Do(t, vol.Close())
	for i := range 100 {
		must.Do(t, os.Remove(d.path(fmt.Sprint("file", i))))
	}
	time.Sleep(5 * time.Second) // the daemon looks often for a second, and removes orphans after three
	before := processorTime(t, d.cmd.Process.Pid)
	const idle = 5 * time.Second
	time.Sleep(idle)
	used := processorTime(t, d.cmd.Process.Pid) - before
	t.Logf("%v in %v", used, idle)
	if used > 30*time.Millisecond { // the system counts in steps of 10 ms
		t.Errorf("%v of processor time in %v", used, idle)
	}
}

// processorTime returns the processor time of a process.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	must.Do(t, err)
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	sum := 0
	for _, i := range []int{11, 12} { // utime and stime
		n, err := strconv.Atoi(fields[i])
		must.Do(t, err)
		sum += n
	}
	return time.Duration(sum) * 10 * time.Millisecond
}
