package dav

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A lock refuses changes of its files by clients that do not know its token, and by other users
// (RFC 4918, section 6). It does not change, apart from its end.
type lock struct {
	token  string
	user   string   // to whom it belongs
	root   string   // the path of the URL that was locked, behind the prefix
	places []string // cleaned paths in the volume that lead there
	owner  string   // XML that the client sent
	alone  bool     // its depth is 0: entries of the directory are not locked, but no name comes or goes
	shared bool     // further shared locks are possible

	timeout time.Duration
	expires time.Time
}

// covers reports whether the lock protects the content and the properties of a file.
func (l *lock) covers(name string) bool {
	return slices.ContainsFunc(l.places, func(p string) bool { return p == name || !l.alone && below(name, p) })
}

// coversAny reports whether it protects a file that has several paths.
func (l *lock) coversAny(names []string) bool { return slices.ContainsFunc(names, l.covers) }

// within reports whether the lock is on something below a directory.
func (l *lock) within(dir string) bool {
	return slices.ContainsFunc(l.places, func(p string) bool { return below(p, dir) })
}

// conflicts reports whether two locks cannot be at once.
func (l *lock) conflicts(other *lock) bool {
	return !(l.shared && other.shared) && (l.coversAny(other.places) || other.coversAny(l.places))
}

// locks holds the locks of a Handler, in memory. Calls take time in proportion to their number,
// which is small.
//
// A lock is made within a transaction that changes the volume, and every change asks for locks
// within its own. So none comes between the question and the change.
type locks struct {
	mu       sync.Mutex // guards the fields below
	byToken  map[string]*lock
	reserved map[*string]bool // cleaned paths on or below which no lock is made now
}

func newLocks() *locks {
	return &locks{byToken: make(map[string]*lock), reserved: make(map[*string]bool)}
}

// newToken returns an unguessable name for a lock: a UUID of version 4 (RFC 9562).
func newToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// expire forgets locks whose time has come. The caller must hold mu.
func (s *locks) expire(now time.Time) {
	for token, l := range s.byToken {
		if !now.Before(l.expires) {
			delete(s.byToken, token)
		}
	}
}

// held returns the locks that there are.
func (s *locks) held(now time.Time) (list []*lock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	for _, l := range s.byToken {
		list = append(list, l)
	}
	return list
}

var errConflict = errors.New("another lock is in the way")

// A conflictError says which lock is in the way of a new one.
type conflictError struct{ with *lock }

func (*conflictError) Error() string { return errConflict.Error() }

func (*conflictError) Unwrap() error { return errConflict }

// create adds a lock, which gets a token and an end.
func (s *locks) create(now time.Time, l lock) (*lock, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	for _, other := range s.byToken {
		if l.conflicts(other) {
			return nil, &conflictError{other}
		}
	}
	for p := range s.reserved {
		if l.covers(*p) || l.within(*p) || slices.Contains(l.places, *p) {
			return nil, &conflictError{&lock{root: l.root, places: l.places}}
		}
	}
	if err := s.mayHold(l.user); err != nil {
		return nil, err
	}
	l.token, l.expires = newToken(), now.Add(l.timeout)
	s.byToken[l.token] = &l
	return &l, nil
}

// mayHold refuses one more lock of a user who has too many. Those who have not logged in have more,
// but together. The caller must hold mu.
func (s *locks) mayHold(user string) error {
	held := 0
	for _, l := range s.byToken {
		if l.user == user {
			held++
		}
	}
	switch {
	case user == "" && held >= maxLocks || len(s.byToken) >= maxAllLocks:
		return errLocks
	case user != "" && held >= maxUserLocks:
		return errUserLocks
	}
	return nil
}

// refresh makes a lock of a user end d from now on. It must cover one of the paths of a file.
func (s *locks) refresh(now time.Time, token, user string, places []string, d time.Duration) (*lock, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	l := s.byToken[token]
	if l == nil || l.user != user || !l.coversAny(places) {
		return nil, false
	}
	next := *l
	next.timeout, next.expires = d, now.Add(d)
	s.byToken[token] = &next
	return &next, true
}

// find returns a lock, or nil.
func (s *locks) find(now time.Time, token string) *lock {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	return s.byToken[token]
}

// remove ends a lock, if there is one.
func (s *locks) remove(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byToken, token)
}

// removed ends the locks on removed files: all below a path, and if itself is set also the locks on
// it.
func (s *locks) removed(name string, itself bool) (undo func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var gone []*lock
	for token, l := range s.byToken {
		if l.within(name) || itself && slices.Contains(l.places, name) {
			gone = append(gone, l)
			delete(s.byToken, token)
		}
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, l := range gone {
			s.byToken[l.token] = l
		}
	}
}

// reserve keeps clients from making locks on a path, below it and above it.
func (s *locks) reserve(name string) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved[&name] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.reserved, &name)
	}
}
