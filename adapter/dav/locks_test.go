package dav

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/net/webdav"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// newTestLocks returns locks on files whose ETag is their name.
func newTestLocks() *locks { return newLocks(func(name string) string { return name }) }

func mustLock(t *testing.T, s *locks, root string, zeroDepth, shared bool) (token string) {
	t.Helper()
	token, err := s.create(noon, webdav.LockDetails{Root: root, Duration: time.Minute, ZeroDepth: zeroDepth}, shared)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestLocksConflict(t *testing.T) {
	type spec struct {
		root         string
		zero, shared bool
	}
	tests := []struct {
		first, second spec
		conflict      bool
	}{
		{spec{"/a", true, false}, spec{"/a", true, false}, true},
		{spec{"/a", true, true}, spec{"/a", true, false}, true},
		{spec{"/a", true, false}, spec{"/a", true, true}, true},
		{spec{"/a", true, true}, spec{"/a", true, true}, false},
		{spec{"/a", true, false}, spec{"/a/b", true, false}, false},
		{spec{"/a", false, false}, spec{"/a/b", true, false}, true},
		{spec{"/a/b", true, false}, spec{"/a", false, false}, true},
		{spec{"/a/b", true, false}, spec{"/a", true, false}, false},
		{spec{"/a", false, true}, spec{"/a/b/c", true, true}, false},
		{spec{"/a", false, false}, spec{"/ab", false, false}, false},
		{spec{"/", false, false}, spec{"/a", true, false}, true},
		{spec{"/", true, false}, spec{"/a", true, false}, false},
		{spec{"/a/", true, false}, spec{"a", true, false}, true},
	}
	for _, tt := range tests {
		s := newTestLocks()
		mustLock(t, s, tt.first.root, tt.first.zero, tt.first.shared)
		_, err := s.create(noon, webdav.LockDetails{Root: tt.second.root, ZeroDepth: tt.second.zero}, tt.second.shared)
		if got := errors.Is(err, webdav.ErrLocked); got != tt.conflict || err != nil && !got {
			t.Errorf("%v, then %v: %v, want conflict %v", tt.first, tt.second, err, tt.conflict)
		}
	}
}

func TestLocksConfirm(t *testing.T) {
	s := newTestLocks()
	file := webdav.Condition{Token: mustLock(t, s, "/file", true, false)}
	dir := webdav.Condition{Token: mustLock(t, s, "/dir", false, false)}
	one := webdav.Condition{Token: mustLock(t, s, "/shared", true, true)}
	two := webdav.Condition{Token: mustLock(t, s, "/shared", true, true)}
	not := func(c webdav.Condition) webdav.Condition {
		return webdav.Condition{Not: true, Token: c.Token, ETag: c.ETag}
	}
	etag := func(e string) webdav.Condition { return webdav.Condition{ETag: e} }
	noLock := webdav.Condition{Token: "DAV:no-lock"}
	tests := []struct {
		name0, name1 string
		conditions   []webdav.Condition
		ok           bool
	}{
		{"/file", "", []webdav.Condition{file}, true},
		{"/file", "", []webdav.Condition{dir}, false},
		{"/file", "", []webdav.Condition{not(noLock)}, false},
		{"/file", "", []webdav.Condition{file, not(noLock), etag("/file")}, true},
		{"/file", "", []webdav.Condition{file, etag("/other")}, false},
		{"/file", "", []webdav.Condition{file, not(etag("/other"))}, true},
		{"/file", "", []webdav.Condition{file, not(file)}, false},
		{"/dir", "", []webdav.Condition{dir}, true},
		{"/dir/a/b", "", []webdav.Condition{dir}, true},
		{"/dir/a/b", "/dir/c", []webdav.Condition{dir}, true},
		{"/dir/a/b", "/file", []webdav.Condition{dir}, false},
		{"/dir/a/b", "/free", []webdav.Condition{dir}, true},
		{"", "/dir/a", []webdav.Condition{dir}, true},
		{"/dirt", "", []webdav.Condition{dir}, false},
		{"/shared", "", []webdav.Condition{one}, true},
		{"/shared", "", []webdav.Condition{two}, true},
		{"/shared", "", []webdav.Condition{etag("/shared")}, false},
		{"/free", "", []webdav.Condition{not(noLock)}, true},
		{"/free", "", []webdav.Condition{noLock}, false},
		{"/free", "", []webdav.Condition{etag("/free")}, true},
	}
	for _, tt := range tests {
		release, err := s.Confirm(noon, tt.name0, tt.name1, tt.conditions...)
		if (err == nil) != tt.ok || err != nil && !errors.Is(err, webdav.ErrConfirmationFailed) {
			t.Errorf("Confirm(%q, %q, %v): %v, want ok %v", tt.name0, tt.name1, tt.conditions, err, tt.ok)
		}
		if err == nil {
			release()
		}
	}
	for _, l := range s.byToken {
		if l.held != 0 {
			t.Errorf("the lock on %s is held", l.Root)
		}
	}
}

func TestLocksEnd(t *testing.T) {
	s := newTestLocks()
	token := mustLock(t, s, "/a", true, false)
	release, err := s.Confirm(noon, "/a", "", webdav.Condition{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Unlock(noon, token); !errors.Is(err, webdav.ErrLocked) {
		t.Errorf("Unlock of a lock that is held: %v", err)
	}
	if _, err := s.Create(noon.Add(time.Hour), webdav.LockDetails{Root: "/a"}); !errors.Is(err, webdav.ErrLocked) {
		t.Errorf("Create on what is held longer than its time: %v", err)
	}
	release()
	if _, err := s.Refresh(noon.Add(59*time.Second), token, time.Minute); err != nil {
		t.Error(err)
	}
	if _, err := s.Create(noon.Add(118*time.Second), webdav.LockDetails{Root: "/a"}); !errors.Is(err, webdav.ErrLocked) {
		t.Errorf("Create on what was refreshed: %v", err)
	}
	if _, err := s.Refresh(noon.Add(119*time.Second), token, time.Minute); !errors.Is(err, webdav.ErrNoSuchLock) {
		t.Errorf("Refresh of an ended lock: %v", err)
	}
	token, err = s.Create(noon.Add(119*time.Second), webdav.LockDetails{Root: "/a", Duration: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Unlock(noon.Add(1000*time.Hour), token); err != nil {
		t.Errorf("Unlock of an endless lock: %v", err)
	}
	if err := s.Unlock(noon.Add(1000*time.Hour), token); !errors.Is(err, webdav.ErrNoSuchLock) {
		t.Errorf("Unlock a second time: %v", err)
	}
}
