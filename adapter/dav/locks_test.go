package dav

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/foliofs/folio/adapter/internal/etag"
	"github.com/foliofs/folio/adapter/internal/volumes"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func mustLock(t *testing.T, s *locks, now time.Time, root string, alone, shared bool) (token string) {
	t.Helper()
	l, err := s.create(now, lock{places: []string{clean(root)}, timeout: time.Minute, alone: alone, shared: shared})
	if err != nil {
		t.Fatal(err)
	}
	return l.token
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
		s := newLocks()
		mustLock(t, s, noon, tt.first.root, tt.first.zero, tt.first.shared)
		_, err := s.create(noon, lock{places: []string{clean(tt.second.root)}, alone: tt.second.zero, shared: tt.second.shared})
		if got := errors.Is(err, errConflict); got != tt.conflict || err != nil && !got {
			t.Errorf("%v, then %v: %v, want conflict %v", tt.first, tt.second, err, tt.conflict)
		}
	}
	// Something is reserved for a change that goes on.
	for _, tt := range tests[9:12] {
		s := newLocks()
		release := s.reserve("/a/b")
		_, err := s.create(noon, lock{places: []string{clean(tt.second.root)}, alone: tt.second.zero})
		if tt.second.root == "/a" && tt.second.zero != (err == nil) {
			t.Errorf("a lock on %v while /a/b is reserved: %v", tt.second, err)
		}
		release()
		mustLock(t, s, noon, tt.second.root, tt.second.zero, false)
	}
}

func TestConfirm(t *testing.T) {
	vol := volumes.New(t)
	if err := errors.Join(vol.MkdirAll("dir/a", 0o755), vol.WriteFile("file", nil, 0o644), vol.WriteFile("free", []byte("x"), 0o644), vol.WriteFile("shared", nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	h := NewHandler(vol, nil)
	now := time.Now()
	file := "<" + mustLock(t, h.locks, now, "/file", true, false) + ">"
	dir := "<" + mustLock(t, h.locks, now, "/dir", false, false) + ">"
	one := "<" + mustLock(t, h.locks, now, "/shared", true, true) + ">"
	two := "<" + mustLock(t, h.locks, now, "/shared", true, true) + ">"
	tag := func(name string) string {
		info, err := vol.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		return "[" + etag.Of(info) + "]"
	}
	const other, noLock = `["other"]`, "Not <DAV:no-lock>"
	tests := []struct {
		names      []string
		conditions string
		want       int
	}{
		{[]string{"file"}, "(" + file + ")", 0},
		{[]string{"file"}, "(" + dir + ")", 412},
		{[]string{"file"}, "", 423},
		{[]string{"file"}, "(" + noLock + ")", 423},
		{[]string{"file"}, "(" + file + noLock + tag("file") + ")", 0},
		{[]string{"file"}, "(" + file + other + ")", 412},
		{[]string{"file"}, "(" + file + " Not " + other + ")", 0},
		{[]string{"file"}, "(" + file + "\tNot" + file + ")", 412},
		{[]string{"file"}, "(" + other + ") (" + file + ")", 0},
		{[]string{"dir"}, "(" + dir + ")", 0},
		{[]string{"dir/a/b"}, "(" + dir + ")", 0},
		{[]string{"dir/a/b", "dir/c"}, "(" + dir + ")", 0},
		{[]string{"dir/a/b", "file"}, "(" + dir + ")", 423},
		{[]string{"dir/a/b", "file"}, "(" + dir + ") </file> (" + file + ")", 0},
		{[]string{"dir/a/b", "file"}, "(" + dir + file + ")", 0},
		{[]string{"dir/a/b", "free"}, "(" + dir + ")", 0},
		{[]string{"dirt"}, "(" + dir + ")", 412},
		{[]string{"shared"}, "(" + one + ")", 0},
		{[]string{"shared"}, "(" + two + ")", 0},
		{[]string{"shared"}, "(" + tag("shared") + ")", 423},
		{[]string{"free"}, "(" + noLock + ")", 0},
		{[]string{"free"}, "(<DAV:no-lock>)", 412},
		{[]string{"free"}, "(" + tag("free") + ")", 0},
		{[]string{"free"}, "</dir/none> (" + tag("free") + ")", 412},
		{[]string{"free"}, "</free> (" + other + ") (" + tag("free") + ")", 0},
		{[]string{"free"}, "<http://example.com/free> (" + tag("free") + ")", 0},
		{[]string{"free"}, "<http://elsewhere.example/free> (" + tag("free") + ")", 412},
		{[]string{"free"}, "<http://example.com/free>", 400},
		{[]string{"free"}, "()", 400},
		{[]string{"free"}, "(Not)", 400},
		{[]string{"free"}, "(<>)", 400},
		{[]string{"free"}, "x", 400},
	}
	for _, tt := range tests {
		r := httptest.NewRequest("PUT", "/"+tt.names[0], http.NoBody)
		r.Header.Set("If", tt.conditions)
		var changes []Change
		for _, name := range tt.names {
			changes = append(changes, Change{Path: name})
		}
		status := 0
		err := h.Confirm(vol, r, changes...)
		if refused, ok := errors.AsType[*Refusal](err); ok {
			status = refused.Status
		}
		if status != tt.want || (err == nil) != (status == 0) {
			t.Errorf("%q if %q: %v, want %d", tt.names, tt.conditions, err, tt.want)
		}
	}
}

func TestLocksEnd(t *testing.T) {
	s := newLocks()
	token := mustLock(t, s, noon, "/a", true, false)
	create := func(after time.Duration) error {
		_, err := s.create(noon.Add(after), lock{places: []string{"/a"}, timeout: time.Minute})
		return err
	}
	if _, ok := s.refresh(noon.Add(59*time.Second), token, "", []string{"/b"}, time.Minute); ok {
		t.Error("refreshed by the URL of another file")
	}
	if _, ok := s.refresh(noon.Add(59*time.Second), token, "bob", []string{"/a"}, time.Minute); ok {
		t.Error("refreshed by another user")
	}
	if _, ok := s.refresh(noon.Add(59*time.Second), token, "", []string{"/a"}, time.Minute); !ok {
		t.Error("not refreshed")
	}
	if err := create(118 * time.Second); !errors.Is(err, errConflict) {
		t.Errorf("create on what was refreshed: %v", err)
	}
	if _, ok := s.refresh(noon.Add(119*time.Second), token, "", []string{"/a"}, time.Minute); ok {
		t.Error("an ended lock was refreshed")
	}
	if err := create(119 * time.Second); err != nil {
		t.Error(err)
	}
	if s.find(noon.Add(120*time.Second), token) != nil {
		t.Error("the ended lock is there")
	}
	s.removed("/a", false)
	if len(s.held(noon.Add(120*time.Second))) != 1 {
		t.Error("the lock is gone with what lay below it")
	}
	s.removed("/a", true)
	if len(s.held(noon.Add(120*time.Second))) != 0 {
		t.Error("the lock outlives its file")
	}
}
