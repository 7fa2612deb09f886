package serve

import (
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// Paths behind the base that belong to no file.
const (
	assetsPath   = "/-/assets/"
	snapshotPath = "/-/at/"
	metricsPath  = "/-/metrics"
	loginPath    = "/-/login"
	healthPath   = "/healthz"
	sharePath    = "/-/share/"
	archivePath  = "/-/archive/"
	undoPath     = "/-/undo/"
	searchPath   = "/-/search"
	restorePath  = "/-/restore"
	tusPath      = "/-/tus/"
)

// A call is a request and its answer.
type call struct {
	s     *Server
	w     *response
	r     *http.Request
	path  string // of the URL, behind the base
	user  string // "" if the client has not logged in
	err   error  // why it failed
	start time.Time
}

func (s *Server) newCall(w http.ResponseWriter, r *http.Request) *call {
	s.metrics.begin()
	c := &call{s: s, r: r, start: time.Now()}
	c.w = newResponse(w, s)
	c.r.Body = newBody(c.w, r.Body)
	return c
}

// end notes what became of the request.
func (c *call) end() {
	took := time.Since(c.start)
	c.s.metrics.end(c.r.Method, c.w.status, took)
	c.log(took)
}

// serve answers the request, or returns why it does not.
func (c *call) serve() error {
	c.protect()
	if err := c.guard(); err != nil {
		return err
	}
	if c.path == healthPath {
		return c.health()
	}
	if strings.HasPrefix(c.path, assetsPath) {
		return c.asset()
	}
	var err error
	if c.user, err = c.s.logins.user(c.r); err != nil {
		return err
	}
	return c.route()
}

// route calls the handler of a path.
func (c *call) route() error {
	switch {
	case c.path == loginPath:
		return c.login()
	case c.path == metricsPath, c.path == "/metrics" && !c.named("metrics"):
		return c.writeMetrics()
	case c.path == searchPath, strings.HasPrefix(c.path, searchPath+"/"):
		return c.search(strings.TrimPrefix(c.path, searchPath))
	case c.path == restorePath:
		return c.restore()
	case c.path == strings.TrimSuffix(sharePath, "/"):
		return c.makeShare()
	case strings.HasPrefix(c.path, tusPath):
		return c.tus(strings.TrimPrefix(c.path, tusPath))
	case strings.HasPrefix(c.path, undoPath):
		return c.undo(strings.TrimPrefix(c.path, undoPath))
	case strings.HasPrefix(c.path, archivePath):
		return c.archive(strings.TrimPrefix(c.path, archivePath))
	}
	return c.files()
}

// files answers a request about a file or directory.
func (c *call) files() error {
	p, err := c.find(c.path)
	if err != nil {
		return err
	}
	defer p.release()
	if p.single != "" && p.name == "." && c.r.Method == http.MethodGet {
		c.redirect(p.root + "/" + url.PathEscape(p.single))
		return nil
	}
	if p.share != nil && c.r.Method == http.MethodDelete {
		return c.removeShare(p)
	}
	return c.method(p)
}

// method calls the handler of a method. A request with an If header is about locks, of which
// package dav knows more.
func (c *call) method(p *place) error {
	locks := c.r.Header.Get("If") != ""
	switch m := c.r.Method; {
	case m == http.MethodGet || m == http.MethodHead:
		return c.get(p)
	case m == http.MethodOptions:
		return c.allowed(p)
	case m == "PROPFIND" || m == "PROPPATCH" || m == "LOCK" || m == "UNLOCK" || m == "COPY":
		return c.dav(p)
	case m == http.MethodPatch:
		return c.patch(p)
	case locks && (m == http.MethodPut || m == http.MethodDelete || m == "MKCOL" || m == "MOVE"):
		return c.dav(p)
	case m == http.MethodPut:
		return c.put(p)
	case m == http.MethodDelete:
		return c.remove(p)
	case m == "MKCOL":
		return c.makeDir(p)
	case m == "MOVE":
		return c.move(p)
	}
	return errMethod
}

// allowed answers OPTIONS.
func (c *call) allowed(p *place) error {
	h := c.w.Header()
	h.Set("Allow", "GET, HEAD, OPTIONS, PROPFIND")
	if p.tree != nil && c.mustChange(p) == nil && p.access.most >= rightWrite {
		h.Set("Allow", "GET, HEAD, OPTIONS, PUT, PATCH, DELETE, MKCOL, MOVE, COPY, PROPFIND, PROPPATCH, LOCK, UNLOCK")
	}
	h.Set("DAV", "1, 2")
	h.Set("MS-Author-Via", "DAV")

	c.w.WriteHeader(http.StatusOK)
	return nil
}

var errMethod = &failure{
	status: http.StatusMethodNotAllowed, message: "This cannot be done here.",
	header: http.Header{"Allow": {"GET, HEAD, OPTIONS"}},
}

// access returns the rights of the user.
func (c *call) access() *access {
	a := &access{user: c.user, most: rightRead, rights: c.s.options.Rights}
	if c.s.options.Write {
		a.most = rightWrite
	}
	if c.s.options.Users != nil && c.user == "" && c.s.options.Rights == nil {
		a.most = rightNone
	}
	return a
}

// login lets a browser ask for a password, and goes on where the user was.
func (c *call) login() error {
	if c.s.options.Users == nil {
		return errMethod
	}
	if c.user == "" {
		return errDenied
	}
	c.redirect(c.localTarget(c.r.URL.Query().Get("to")))
	return nil
}

// localTarget returns a path on this server, whatever a client says. It is no URL of another one,
// such as //example.com or /\example.com.
func (c *call) localTarget(to string) string {
	u, err := parseLocal(to)
	if err != nil || !covers(c.s.base, strings.TrimSuffix(u.Path, "/")) {
		return c.s.base + "/"
	}
	return to
}

// redirect sends the client to a path of this server, which is escaped already.
func (c *call) redirect(to string) {
	c.w.Header().Set("Location", to)
	c.w.Header().Set("Cache-Control", "no-store")
	c.w.WriteHeader(http.StatusSeeOther)
}

// health says that the server runs and can read its volumes.
func (c *call) health() error {
	for _, t := range c.s.trees {
		o, err := t.acquire()
		if err != nil {
			return err
		}
		_, err = o.Stat(t.Dir)
		o.release()
		if err != nil {
			return err
		}
	}
	c.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	c.w.Header().Set("Cache-Control", "no-store")
	_, err := c.w.Write([]byte("ok\n"))
	return err
}

// asset sends a part of the pages.
func (c *call) asset() error {
	if strings.HasSuffix(c.path, "/") {
		return fs.ErrNotExist
	}
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		return errMethod
	}
	c.w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	c.s.assets.ServeHTTP(c.w, c.r)
	return nil
}

// named reports whether there is a file or a volume with a name in the root, which goes before what
// this server has under that name.
func (c *call) named(name string) bool {
	if len(c.s.trees) > 1 {
		return c.s.tree(name) != nil
	}
	o, err := c.s.trees[0].acquire()
	if err != nil {
		return false
	}
	defer o.release()
	_, err = o.Lstat(path.Join(c.s.trees[0].Dir, name))
	return err == nil
}
