package runner

import (
	"sync/atomic"
	"time"
)

// watch calls over when timeout has passed. end stops the watch, and reports whether over was
// called.
func watch(timeout time.Duration, over func()) (end func() bool) {
	var called atomic.Bool
	timer := time.AfterFunc(timeout, func() { called.Store(true); over() })
	return func() bool {
		timer.Stop()
		return called.Load()
	}
}
