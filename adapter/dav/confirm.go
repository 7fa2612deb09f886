package dav

import (
	"cmp"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"golang.org/x/net/webdav"
)

// A confirmation is the webdav.LockSystem of one request. Package webdav asks about the file that
// a list of the If header names. A client chooses that, so here the files that the request changes
// count, and all that lies in a directory which is removed.
type confirmation struct {
	*locks
	names   []string // what the request changes
	deep    bool     // with all that lies in it
	tokens  map[string]bool
	refused bool // a lock whose token is not given is in the way, whatever list holds
}

var _ webdav.LockSystem = (*confirmation)(nil)

// newConfirmation returns the locks as a request sees them.
func (h *Handler) newConfirmation(r *http.Request) *confirmation {
	c := &confirmation{locks: h.locks, tokens: submitted(r.Header.Get("If"))}
	name := strings.TrimPrefix(r.URL.Path, h.prefix)
	switch r.Method {
	case "DELETE":
		c.names, c.deep = []string{clean(name)}, true
	case "COPY", "MOVE":
		if to, err := url.Parse(r.Header.Get("Destination")); err == nil {
			c.names = append(c.names, clean(strings.TrimPrefix(to.Path, h.prefix)))
		}
		if c.deep = true; r.Method == "MOVE" {
			c.names = append(c.names, clean(name))
		}
	default:
		c.names = []string{clean(name)}
	}
	return c
}

// pathTag is the path of a resource, before a list of an If header, which may stand there in place
// of a URL. Package webdav knows URLs only.
var pathTag = regexp.MustCompile(`(^|\))([ \t]*<)(/[^/>][^>]*>)`)

// withURLs returns a request whose If header has URLs in place of paths.
func withURLs(r *http.Request) *http.Request {
	header := r.Header.Get("If")
	if !strings.Contains(header, "</") {
		return r
	}
	r = r.WithContext(r.Context())
	r.Header = r.Header.Clone()
	r.Header.Set("If", pathTag.ReplaceAllString(header, "${1}${2}//"+strings.ReplaceAll(r.Host, "$", "$$")+"$3"))
	return r
}

// submitted returns the tokens that an If header gives, in whichever list (RFC 4918, section
// 10.4.1). The URLs that are among them are no tokens of locks.
func submitted(header string) map[string]bool {
	tokens := make(map[string]bool)
	for part := range strings.SplitSeq(header, "<") {
		if token, _, ok := strings.Cut(part, ">"); ok {
			tokens[token] = true
		}
	}
	return tokens
}

// Create makes the lock that a request without an If header has while it goes on.
func (c *confirmation) Create(now time.Time, details webdav.LockDetails) (token string, err error) {
	details.ZeroDepth = !c.deep
	return c.locks.Create(now, details)
}

// Confirm lets the request go on if the conditions of a list hold, and if it gives the token of a
// lock on each file that it changes and that is locked.
func (c *confirmation) Confirm(now time.Time, name0, name1 string, conditions ...webdav.Condition) (release func(), err error) {
	if c.refused {
		return nil, webdav.ErrConfirmationFailed
	}
	s := c.locks
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	if !s.allHold(conditions, clean(cmp.Or(name0, name1))) {
		return nil, webdav.ErrConfirmationFailed
	}
	var under []*lock
	for _, name := range s.changed(c.names, c.deep) {
		l, free := s.permits(name, c.tokens)
		if !free {
			c.refused = true
			return nil, webdav.ErrConfirmationFailed
		}
		if l != nil {
			under = append(under, l)
		}
	}
	return s.hold(under), nil
}

// changed returns the names, and if deep is set those below them that have locks of their own. The
// caller must hold mu.
func (s *locks) changed(names []string, deep bool) []string {
	all := names
	if !deep {
		return all
	}
	for _, l := range s.byToken {
		for _, name := range names {
			if below(l.Root, name) {
				all = append(all, l.Root)
			}
		}
	}
	return all
}

// unlockRemoved ends the locks on what a request has removed or moved away.
func (h *Handler) unlockRemoved(r *http.Request) {
	s, name := h.locks, clean(strings.TrimPrefix(r.URL.Path, h.prefix))
	s.mu.Lock()
	defer s.mu.Unlock()
	for token, l := range s.byToken {
		if l.Root == name || below(l.Root, name) {
			delete(s.byToken, token)
		}
	}
}
