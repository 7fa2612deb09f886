//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A patience is the context of a change. It is cancelled when the thread that waits for the answer
// is being killed, which would otherwise wait for as long as other processes write the volume. The
// kernel reports a signal (FUSE_INTERRUPT), but not whether it kills. So the daemon looks into
// /proc from time to time while a change takes long.
type patience struct {
	timer *time.Timer
	pid   atomic.Uint32
	ended atomic.Bool
	over  chan struct{} // closed by look
}

// How long a change takes before the daemon looks, and between two looks.
const patienceLasts = 100 * time.Millisecond

var patiences = sync.Pool{New: func() any {
	p := &patience{over: make(chan struct{})}
	p.timer = time.AfterFunc(time.Hour, p.look)
	p.timer.Stop()
	return p
}}

// patienceOf returns the patience of a thread. The caller must end it.
func patienceOf(pid uint32) *patience {
	p := patiences.Get().(*patience)
	p.pid.Store(pid)
	p.timer.Reset(patienceLasts)
	return p
}

// end ends a patience, which must not be used any more.
func (p *patience) end() {
	if p.timer.Stop() {
		patiences.Put(p)
	} else {
		p.ended.Store(true) // a look is under way
	}
}

// look cancels the context if the thread is being killed.
func (p *patience) look() {
	switch {
	case p.ended.Load():
	case isKilled(p.pid.Load()):
		close(p.over)
	default:
		p.timer.Reset(patienceLasts)
	}
}

// isKilled reports whether a thread that waits for an answer is being killed: then the kernel adds
// SIGKILL to its signals, whichever it was that kills.
func isKilled(pid uint32) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	pending := fields(status, "SigPnd:")
	if len(pending) != 1 {
		return false
	}
	signals, err := strconv.ParseUint(pending[0], 16, 64)
	return err == nil && signals>>(unix.SIGKILL-1)&1 != 0
}

// Deadline implements context.Context.
func (p *patience) Deadline() (deadline time.Time, ok bool) { return deadline, false }

// Done implements context.Context.
func (p *patience) Done() <-chan struct{} { return p.over }

// Err implements context.Context.
func (p *patience) Err() error {
	select {
	case <-p.over:
		return context.Canceled
	default:
		return nil
	}
}

// Value implements context.Context.
func (p *patience) Value(any) any { return nil }
