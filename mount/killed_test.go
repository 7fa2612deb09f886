//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/sqlitefile"
)

// waitingPrograms change different directories and files: the kernel lets one program at a time
// change each.
var waitingPrograms = []string{
	"mkdir made", "ln -s target dir1/made", "rm dir2/file", "dd if=/dev/zero of=dir1/file conv=notrunc count=1",
	"dd if=/dev/zero of=dir3/file bs=1M conv=notrunc count=1",
}

// TestKilledWaiting kills programs that wait for an answer, because another process writes the
// volume: they end although it never comes to an end. Some of them wait for the lock, others for
// those.
func TestKilledWaiting(t *testing.T) {
	t.Setenv(busyVariable, "1h")
	d := startDaemon(t, newVolume(t))
	for _, name := range []string{"dir1", "dir2", "dir3"} {
		must.Do(t, os.Mkdir(d.path(name), 0o755))
		must.Do(t, os.WriteFile(d.path(name+"/file"), nil, 0o644))
	}
	raw, err := sqlitefile.Open(d.volume, nil)
	must.Do(t, err)
	defer raw.Close()
	locked, over, released := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	release := sync.OnceFunc(func() { close(over) })
	defer release()
	go func() {
		released <- raw.Update(context.Background(), func(*sqlitefile.Tx) error {
			close(locked)
			<-over
			return nil
		})
	}()
	<-locked
	var programs []*exec.Cmd
	for _, command := range waitingPrograms {
		words := strings.Fields(command)
		program := exec.Command(words[0], words[1:]...)
		program.Dir = d.dir
		must.Do(t, program.Start())
		programs = append(programs, program)
	}
	d.within(time.Minute, "killing programs", func() {
		for _, signal := range []syscall.Signal{syscall.SIGWINCH, syscall.SIGTERM} {
			for _, program := range programs {
				eventually(t, program.String()+" waits", func() bool { return waitsForAnswer(program.Process.Pid) })
				must.Do(t, program.Process.Signal(signal))
			}
		}
		for _, program := range programs {
			if err := program.Wait(); err == nil || !strings.Contains(err.Error(), "terminated") {
				t.Errorf("%v ended with %v", program.Args, err)
			}
		}
	})
	release()
	must.Do(t, <-released)
	list, err := os.ReadDir(d.dir)
	if err != nil || len(list) != 3 {
		t.Errorf("the volume has %v, %v", list, err)
	}
	must.Do(t, os.WriteFile(d.path("after"), nil, 0o644))
}

// waitsForAnswer reports whether a thread waits for a mount.
func waitsForAnswer(pid int) bool {
	b, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "wchan"))
	return err == nil && strings.Contains(string(b), "request_wait_answer")
}
