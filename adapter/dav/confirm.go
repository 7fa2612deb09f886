package dav

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/internal/etag"
)

// A Change is a change of a file by a request.
type Change struct {
	Path string // in the volume; it leads through no symbolic link
	// Placed says that the name is made or removed, with all files below it, so that a lock of the
	// directory around it matters. Otherwise the content or the properties change.
	Placed bool
}

var (
	errInWay     = errors.New("another client has locked this")
	errCondition = errors.New("the conditions of the If header do not hold")
)

// Confirm returns nil if a request may make changes. Its If header must be true, and if another
// client has locked one of the files, the request must have the token of the lock. Otherwise
// Confirm returns a *Refusal. Conditions of the If header that name no URL are about the first
// change.
//
// A program must call Confirm for each change of the volume that a client asks for, and within the
// transaction that makes it, which is in: so no lock can be made between the two.
func (h *Handler) Confirm(in Lookuper, r *http.Request, changes ...Change) error {
	return h.confirm(in, r, []string{clean(changes[0].Path)}, changes)
}

// Reserve keeps clients from locking a file, and the files below it, until release is called. It is
// for changes that make their own transaction, such as folio.Volume.Restore, where a program cannot
// call Confirm within it. Such a program calls Reserve, then Confirm, and release after the change.
func (h *Handler) Reserve(name string) (release func()) { return h.locks.reserve(clean(name)) }

// Removed ends the locks of the files below a path of the volume, and if itself is set those of the
// path, too. A program calls it in the transaction that removes the file or directory, for example
// after it has moved a directory away. If the transaction fails, the program must call undo, which
// brings the locks back.
func (h *Handler) Removed(name string, itself bool) (undo func()) {
	return h.locks.removed(clean(name), itself)
}

// confirm is Confirm for a request that names a file with the given paths.
func (h *Handler) confirm(in Lookuper, r *http.Request, subject []string, changes []Change) error {
	header := r.Header.Get("If")
	held := h.locks.held(time.Now())
	if header == "" && len(held) == 0 {
		return nil
	}
	lists, err := parseIf(header)
	if err != nil {
		return err
	}
	c := &confirmation{h: h, in: in, r: r, held: held, user: userOf(r.Context()), tokens: tokensOf(lists)}
	if len(lists) > 0 && !slices.ContainsFunc(lists, func(l ifList) bool { return c.holds(l, subject, changes) }) {
		return refuse(errCondition, http.StatusPreconditionFailed)
	}
	for _, change := range changes {
		if l := c.inWay(change); l != nil {
			return &Refusal{errInWay, http.StatusLocked, "lock-token-submitted", h.href(r.Context(), in, l, r.URL.Path)}
		}
	}
	return nil
}

// A confirmation looks at the locks that were there when it began.
type confirmation struct {
	h      *Handler
	in     Lookuper
	r      *http.Request
	held   []*lock
	user   string
	tokens map[string]bool
}

// tokensOf returns the tokens that an If header gives, in whichever list (RFC 4918, section
// 10.4.1).
func tokensOf(lists []ifList) map[string]bool {
	tokens := make(map[string]bool)
	for _, list := range lists {
		for _, c := range list.conditions {
			tokens[c.token] = true
		}
	}
	return tokens
}

// inWay returns a lock that refuses a change, or nil. A name that comes or goes changes its
// directory, too (RFC 4918, section 7.4), and everything below it.
func (c *confirmation) inWay(change Change) *lock {
	name := clean(change.Path)
	if l := c.unsubmitted(func(l *lock) bool { return l.covers(name) }); l != nil {
		return l
	}
	if !change.Placed {
		return c.unsubmitted(c.sameFile(name))
	}
	if l := c.unsubmitted(func(l *lock) bool { return l.covers(path.Dir(name)) }); l != nil {
		return l
	}
	for _, l := range c.held {
		if l.within(name) {
			if other := c.unsubmitted(func(other *lock) bool { return other.coversAny(l.places) }); other != nil {
				return other
			}
		}
	}
	return nil
}

// unsubmitted returns one of some locks, unless the request gives the token of one of them.
func (c *confirmation) unsubmitted(covers func(l *lock) bool) (found *lock) {
	for _, l := range c.held {
		if !covers(l) {
			continue
		}
		if l.user == c.user && c.tokens[l.token] {
			return nil
		}
		found = l
	}
	return found
}

// sameFile returns a function that reports whether a lock is on a file that has several names, of
// which this is one.
func (c *confirmation) sameFile(name string) func(l *lock) bool {
	file := c.node(name)
	return func(l *lock) bool {
		return file != nil && file.Nlink > 1 && slices.ContainsFunc(l.places, func(p string) bool {
			other := c.node(p)
			return other != nil && other.Ino == file.Ino
		})
	}
}

// node returns the inode of a file, and nil for a directory or if there is nothing.
func (c *confirmation) node(name string) *folio.Node {
	info, err := c.in.Lstat(volumePath(name))
	if err != nil || info.IsDir() {
		return nil
	}
	return info.Sys().(*folio.Node)
}

// holds reports whether all conditions of a list hold.
func (c *confirmation) holds(list ifList, subject []string, changes []Change) bool {
	tag := ""
	locked := func(l *lock) bool {
		return l.coversAny(subject) || slices.ContainsFunc(changes, func(change Change) bool { return l.covers(clean(change.Path)) })
	}
	if list.tag == "" {
		tag = c.etag(subject)
	} else {
		places, p, ok := c.tagged(list.tag)
		if !ok {
			return false
		}
		tag, locked = c.etag([]string{p}), func(l *lock) bool { return l.coversAny(places) }
	}
	for _, one := range list.conditions {
		ok := one.etag != "" && one.etag == tag
		if one.token != "" {
			ok = slices.ContainsFunc(c.held, func(l *lock) bool { return l.token == one.token && l.user == c.user && locked(l) })
		}
		if ok == one.not {
			return false
		}
	}
	return true
}

// tagged returns the paths of the file of a URL in an If header, and the one by which its content
// is found.
func (c *confirmation) tagged(tag string) (places []string, p string, ok bool) {
	u, err := url.Parse(tag)
	if err != nil || u.Host != "" && !strings.EqualFold(u.Host, c.r.Host) {
		return nil, "", false
	}
	name, ok := strings.CutPrefix(u.Path, c.h.prefix)
	if !ok || strings.IndexByte(name, 0) >= 0 {
		return nil, "", false
	}
	if p, err = c.h.files.path(c.r.Context(), c.in, name, true, false); err != nil {
		return nil, "", true // there is no such file for this request, and so neither tag nor lock
	}
	return c.h.files.places(c.r.Context(), c.in, name), plainPath(c.in, clean(p), true), true
}

// etag returns the ETag of the content of a file, and "" for a directory or if there is nothing.
func (c *confirmation) etag(places []string) string {
	for _, p := range places {
		info, err := c.in.Lstat(volumePath(p))
		if err == nil && !info.IsDir() && info.Mode()&fs.ModeSymlink == 0 {
			return etag.Of(info)
		}
	}
	return ""
}

// href returns the URL of the file or directory of a lock, escaped for XML. A client that does not
// reach it gets the path of the URL that it has sent itself.
func (h *Handler) href(ctx context.Context, in Lookuper, l *lock, sent string) string {
	if _, err := h.files.path(ctx, in, l.root, true, false); err == nil {
		sent = h.prefix + l.root
	}
	return escapeXML((&url.URL{Path: sent}).EscapedPath())
}

// allow confirms a request of this handler, and returns its changes. A request does not change a
// file that it does not reach.
func (h *Handler) allow(in Lookuper, r *http.Request) (changes []Change, err error) {
	add := func(name string, follow, placed bool) {
		p, err := h.files.path(r.Context(), in, name, follow, false)
		if err != nil {
			return
		}
		p = plainPath(in, clean(p), follow)
		if !placed {
			_, err = in.Lstat(volumePath(p))
			placed = errors.Is(err, fs.ErrNotExist)
		}
		changes = append(changes, Change{p, placed})
	}
	name := strings.TrimPrefix(r.URL.Path, h.prefix)
	switch r.Method {
	case "DELETE", "MKCOL":
		add(name, false, true)
	case "MOVE", "COPY":
		if r.Method == "MOVE" {
			add(name, false, true)
		}
		to, err := url.Parse(r.Header.Get("Destination"))
		if err != nil {
			return nil, refuse(errDestination, http.StatusBadRequest)
		}
		add(strings.TrimPrefix(to.Path, h.prefix), false, true)
	default:
		add(name, true, false)
	}
	if s, ok := scopeOf(r.Context()).(Allower); ok {
		if err := s.Allow(in); err != nil {
			return changes, err
		}
	} else if err := h.precondition(in, r, name); err != nil {
		return changes, err
	}
	return changes, h.confirm(in, r, h.files.places(r.Context(), in, name), changes)
}
