//go:build linux

package watchdog

import (
	"os"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() {
	if len(os.Args) > 0 && os.Args[0] == name {
		run()
		os.Exit(0)
	}
}

// run is the watchdog. It stays when the system ends all processes, or a user all of a terminal:
// the daemon unmounts then, and ends by itself.
func run() {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGPIPE)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGUSR1)
	if unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGUSR1), 0, 0, 0) != nil {
		return
	}
	title, _ := unix.BytePtrFromString(name)
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(title)), 0, 0, 0)
	ready := os.NewFile(readyFile, "ready")
	_, _ = ready.Write([]byte{1})
	_ = ready.Close()
	go func() {
		_, _ = os.NewFile(lifeFile, "life").Read(make([]byte, 1))
		ended <- syscall.SIGUSR1
	}()
	<-ended
	_, _ = unix.Write(abortFile, []byte("1"))
}
