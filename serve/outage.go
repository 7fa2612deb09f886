package serve

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/foliofs/folio"
)

// While the server of a volume cannot be reached, each call of the volume waits for as long as the
// volume's timeout. So only the first requests wait. When one of them has failed, its tree is away:
// all further requests are refused at once, until a goroutine has reached the server.

// errAway answers requests to a tree that is away.
var errAway = fmt.Errorf("the server of the volume could not be reached a moment ago: %w", folio.ErrUnreachable)

// retryAfter lets clients try again soon, as waiting costs this server nothing.
var retryAfter = http.Header{"Retry-After": {"5"}}

// reachEvery is how long a tree that is away waits before it tries again to reach the server.
const reachEvery = time.Second

// lose lets the tree be away if err says that its server could not be reached. The log has one line
// for the beginning of an outage, and one for its end.
func (t *tree) lose(err error) {
	if !errors.Is(err, folio.ErrUnreachable) || errors.Is(err, errAway) || !t.away.CompareAndSwap(false, true) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || t.current == nil {
		t.away.Store(false)
		return
	}
	t.notices.Error("the server of a volume cannot be reached", "volume", t.Name, "error", err)
	o := t.current
	o.users++
	t.reaching.Go(func() {
		defer o.release()
		t.reach(o)
	})
}

// reach returns when the server was reached, or when the tree is closed.
func (t *tree) reach(o *opened) {
	begun := time.Now()
	for {
		if _, err := o.Stat(t.Dir); !errors.Is(err, folio.ErrUnreachable) {
			t.away.Store(false)
			t.notices.Info("the server of a volume is reached again", "volume", t.Name, "after", time.Since(begun).Round(time.Millisecond))
			return
		}
		select {
		case <-t.ending.Done():
			return
		case <-time.After(reachEvery):
		}
	}
}
