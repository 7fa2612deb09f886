package dav

import (
	"crypto/rand"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/webdav"
)

// A lock refuses changes to its files by clients that do not know its token (RFC 4918, section 6).
type lock struct {
	webdav.LockDetails
	token   string
	shared  bool      // further shared locks are possible
	expires time.Time // zero: never
	held    int       // requests that go on under it
}

// covers reports whether the lock protects a file or directory.
func (l *lock) covers(name string) bool {
	return l.Root == name || !l.ZeroDepth && below(name, l.Root)
}

// below reports whether a cleaned path leads to something in the directory dir, at whatever depth.
func below(name, dir string) bool {
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, "/"))
	return ok && strings.HasPrefix(rest, "/") && name != dir
}

// conflicts reports whether two locks cannot be at once.
func (l *lock) conflicts(other *lock) bool {
	return !(l.shared && other.shared) && (l.covers(other.Root) || other.covers(l.Root))
}

// locks is a webdav.LockSystem in memory. Other than that of package webdav it has shared locks,
// looks at all conditions of an If header, and lets many requests go on under one lock, as each
// change of a volume happens as a whole anyway. It takes time in proportion to the number of locks,
// which are few.
type locks struct {
	etag func(name string) string // of a file; "" if there is none

	mu      sync.Mutex // guards the fields below
	byToken map[string]*lock
}

var _ webdav.LockSystem = (*locks)(nil)

func newLocks(etag func(name string) string) *locks {
	return &locks{etag: etag, byToken: make(map[string]*lock)}
}

// clean returns the one form of a path of a URL in which it is compared.
func clean(name string) string { return path.Clean("/" + name) }

// newToken returns an unguessable name for a lock: a UUID of version 4 (RFC 9562).
func newToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// expire forgets locks whose time has come. The caller must hold mu, here and below.
func (s *locks) expire(now time.Time) {
	for token, l := range s.byToken {
		if !l.expires.IsZero() && !now.Before(l.expires) && l.held == 0 {
			delete(s.byToken, token)
		}
	}
}

// expires returns when a lock ends that was taken at now; a negative duration is without end.
func expires(now time.Time, d time.Duration) time.Time {
	if d < 0 {
		return time.Time{}
	}
	return now.Add(d)
}

// Create makes an exclusive lock and returns its token, or webdav.ErrLocked.
func (s *locks) Create(now time.Time, details webdav.LockDetails) (token string, err error) {
	return s.create(now, details, false)
}

func (s *locks) create(now time.Time, details webdav.LockDetails, shared bool) (token string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	details.Root = clean(details.Root)
	l := &lock{LockDetails: details, token: newToken(), shared: shared, expires: expires(now, details.Duration)}
	for _, other := range s.byToken {
		if l.conflicts(other) {
			return "", webdav.ErrLocked
		}
	}
	if !l.expires.IsZero() && s.held() >= maxLocks {
		return "", errLocks
	}
	s.byToken[l.token] = l
	return l.token, nil
}

// held returns how many locks clients hold. Those of requests that go on have no end.
func (s *locks) held() (n int) {
	for _, l := range s.byToken {
		if !l.expires.IsZero() {
			n++
		}
	}
	return n
}

// Refresh makes a lock end d from now on.
func (s *locks) Refresh(now time.Time, token string, d time.Duration) (webdav.LockDetails, error) {
	l, err := s.refresh(now, token, "", d)
	return l.LockDetails, err
}

// refresh is Refresh for a request about a file, which the lock must cover unless its name is "".
func (s *locks) refresh(now time.Time, token, name string, d time.Duration) (lock, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	l := s.byToken[token]
	if l == nil || name != "" && !l.covers(name) {
		return lock{}, webdav.ErrNoSuchLock
	}
	l.Duration, l.expires = d, expires(now, d)
	return *l, nil
}

// Unlock ends a lock, unless a request goes on under it.
func (s *locks) Unlock(now time.Time, token string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	l := s.byToken[token]
	switch {
	case l == nil:
		return webdav.ErrNoSuchLock
	case l.held > 0:
		return webdav.ErrLocked
	}
	delete(s.byToken, token)
	return nil
}

// Confirm lets a request change one or two files if the conditions of a list in its If header hold,
// all of them, and their tokens are those of locks on the files, if there are any. The conditions
// are about the first file.
func (s *locks) Confirm(now time.Time, name0, name1 string, conditions ...webdav.Condition) (release func(), err error) {
	c := confirmation{locks: s, tokens: make(map[string]bool)}
	for _, name := range []string{name0, name1} {
		if name != "" {
			c.names = append(c.names, clean(name))
		}
	}
	for _, condition := range conditions {
		c.tokens[condition.Token] = true
	}
	return c.Confirm(now, name0, name1, conditions...)
}

// allHold reports whether all conditions hold for a file.
func (s *locks) allHold(conditions []webdav.Condition, name string) bool {
	for _, c := range conditions {
		if s.holds(c, name) == c.Not {
			return false
		}
	}
	return true
}

// hold lets a request go on under locks until it calls release.
func (s *locks) hold(under []*lock) (release func()) {
	for _, l := range under {
		l.held++
	}
	return func() { s.release(under) }
}

// holds reports whether a condition holds, apart from its Not.
func (s *locks) holds(c webdav.Condition, name string) bool {
	if c.Token == "" {
		return c.ETag == s.etag(name)
	}
	l := s.byToken[c.Token]
	return l != nil && l.covers(name)
}

// permits returns a lock on a file whose token is given, and whether there is one or none is
// needed.
func (s *locks) permits(name string, tokens map[string]bool) (under *lock, free bool) {
	free = true
	for _, l := range s.byToken {
		if !l.covers(name) {
			continue
		}
		if tokens[l.token] {
			return l, true
		}
		free = false
	}
	return nil, free
}

func (s *locks) release(under []*lock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range under {
		l.held--
	}
}

// maxDiscovery is how many bytes about locks a file gets in a listing, apart from its first lock.
const maxDiscovery = 2 << 10

// discover describes the locks on a file, for the property lockdiscovery.
func (s *locks) discover(name, prefix string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.expire(now)
	var text []byte
	for _, l := range s.byToken {
		if len(text) < maxDiscovery && l.covers(name) && !l.expires.IsZero() {
			left := *l
			left.Duration = l.expires.Sub(now)
			text = append(text, left.active(prefix)...)
		}
	}
	return text
}

// Locked reports whether a client holds a lock on a file, or on something below a directory. The
// name is the path of a URL behind the prefix. A server that changes a file by other means than
// this handler must refuse to change one that is locked.
func (h *Handler) Locked(name string) bool {
	s := h.locks
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(time.Now())
	name = clean(name)
	for _, l := range s.byToken {
		if l.covers(name) || below(l.Root, name) {
			return true
		}
	}
	return false
}
