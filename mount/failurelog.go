//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"log"
	"sync"
	"syscall"
	"time"
)

// A failureLog tells why requests fail of which programs learn no more than EIO. If a volume is
// removed while it is mounted, for example, each request fails, for the same reason: so it tells
// one of them a minute.
type failureLog struct {
	logger *log.Logger

	mu   sync.Mutex // guards last
	last time.Time  // when the log got a failure
}

// failuresEach is how long the log is quiet after a failure.
const failuresEach = time.Minute

func (l *failureLog) add(err error) {
	if _, bare := err.(syscall.Errno); bare { // it has no more to say
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); l.last.IsZero() || now.Sub(l.last) >= failuresEach {
		l.last = now
		l.logger.Printf("mount: %v", err)
	}
}
