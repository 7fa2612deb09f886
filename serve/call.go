package serve

import (
	"net/http"
	"time"
)

// A call is a request and its answer.
type call struct {
	s      *site
	w      *response
	r      *http.Request
	path   string // of the URL, behind the base
	client string // its address
	user   string // "" if the client has not logged in
	who    *authority
	tree   *tree // that the path leads to, or nil
	err    error // why it failed
	start  time.Time
	ended  []func() // each gives back locks that a transaction has ended
}

var errCrowded error = &failure{
	status: http.StatusTooManyRequests, message: "Too many requests come from your address at once. Try again.", header: http.Header{"Retry-After": {"5"}},
}

// newCall begins a call, which the caller must end.
func newCall(s *site, w http.ResponseWriter, r *http.Request) *call {
	s.metrics.begin()
	c := &call{s: s, r: r, client: s.clientOf(r), who: s.who.Load(), start: time.Now()}
	c.w = newResponse(w, s)
	c.r.Body = newBody(c.w, r.Body)
	return c
}

// access returns the rights of the user.
func (c *call) access() *access { return c.accessOf(c.user) }

// accessOf returns the rights of a user, and of those who have not logged in if user is "".
func (c *call) accessOf(user string) *access {
	a := &access{user: user, most: rightRead, rights: c.who.rights}
	if c.s.options.Write {
		a.most = rightWrite
	}
	if c.who.users != nil && user == "" && c.who.rights == nil {
		a.most = rightNone
	}
	return a
}

// redirect sends the client to a path of this server, which is escaped already.
func (c *call) redirect(to string) {
	c.w.Header().Set("Location", to)
	c.w.Header().Set("Cache-Control", "no-store")
	c.w.WriteHeader(http.StatusSeeOther)
}
