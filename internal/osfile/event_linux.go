package osfile

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An Event lets one thread wait until another one sets it. Wait blocks the thread itself, without
// the Go runtime. The zero Event is not set.
type Event struct {
	state atomic.Uint32 // 0, eventSet or eventAwaited
}

const (
	eventSet     = 1
	eventAwaited = 2
)

// Of linux/futex.h.
const (
	futexWait = 0 | 128 // and private to the process
	futexWake = 1 | 128
)

// Set sets the event, which must not be set.
func (e *Event) Set() {
	if e.state.Swap(eventSet) == eventAwaited {
		_, _, _ = unix.Syscall(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&e.state)), futexWake, 1)
	}
}

// Wait returns when the event is set, and unsets it.
func (e *Event) Wait() {
	for !e.state.CompareAndSwap(eventSet, 0) {
		if e.state.CompareAndSwap(0, eventAwaited) || e.state.Load() == eventAwaited {
			_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&e.state)), futexWait, eventAwaited, 0, 0, 0)
		}
	}
}

// WaitFor is Wait, but gives up after d. It reports whether the event was set.
func (e *Event) WaitFor(d time.Duration) bool {
	for end := time.Now().Add(d); !e.state.CompareAndSwap(eventSet, 0); {
		left := time.Until(end)
		if left <= 0 {
			return false
		}
		if e.state.CompareAndSwap(0, eventAwaited) || e.state.Load() == eventAwaited {
			limit := unix.NsecToTimespec(left.Nanoseconds())
			_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&e.state)), futexWait, eventAwaited, uintptr(unsafe.Pointer(&limit)), 0, 0)
		}
	}
	return true
}
