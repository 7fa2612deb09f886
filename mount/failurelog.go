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

	mu   sync.Mutex // guards told
	told time.Time
}

// failuresEach is how long the log is quiet after a failure.
const failuresEach = time.Minute

func (l *failureLog) add(err error) {
	if _, bare := err.(syscall.Errno); bare { // it has no more to say
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); l.told.IsZero() || now.Sub(l.told) >= failuresEach {
		l.told = now
		l.logger.Printf("mount: %v", err)
	}
}
