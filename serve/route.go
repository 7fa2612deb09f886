package serve

import (
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// A router takes a call to the function that answers it.
type router struct{ *call }

// serve answers the request, or returns why it does not.
func (c router) serve() error {
	c.protect()
	if err := c.guard(); err != nil {
		return err
	}
	if c.path == healthPath || c.path == "/healthz" && c.stands() {
		return service(c).health()
	}
	if strings.HasPrefix(c.path, assetsPath) {
		return service(c).asset()
	}
	if c.path == iconPath && c.stands() {
		return service(c).icon()
	}
	var err error
	if c.user, err = c.s.logins.user(c.r, c.client, c.who.users); err != nil {
		return err
	}
	return c.route()
}

// route calls the handler of a path.
func (c router) route() error {
	switch {
	case c.path == loginPath:
		return service(c).login()
	case c.path == metricsPath, c.path == "/metrics" && c.stands():
		return service(c).writeMetrics()
	case c.path == searchPath, strings.HasPrefix(c.path, searchPath+"/"):
		return answerSearch(c.call, strings.TrimPrefix(c.path, searchPath))
	case c.path == restorePath:
		return restore(c.call)
	case c.path == removePath:
		return removeSelected(c.call)
	case c.path == movePath:
		return moveSelected(c.call)
	case c.path == strings.TrimSuffix(sharePath, "/"):
		return makeShare(c.call)
	case c.path == linksPath, strings.HasPrefix(c.path, linksPath+"/"):
		return answerLinks(c.call, strings.TrimPrefix(c.path, linksPath))
	case c.path == trashPath, strings.HasPrefix(c.path, trashPath+"/"):
		return answerTrash(c.call, strings.TrimPrefix(c.path, trashPath))
	case strings.HasPrefix(c.path, tusPath):
		return answerTus(c.call, strings.TrimPrefix(c.path, tusPath))
	case strings.HasPrefix(c.path, undoPath):
		return undo(c.call, strings.TrimPrefix(c.path, undoPath))
	case strings.HasPrefix(c.path, archivePath):
		return answerArchive(c.call, strings.TrimPrefix(c.path, archivePath))
	}
	return c.files()
}

// files answers a request about a file or directory.
func (c router) files() error {
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
		return (&change{call: c.call, p: p}).removeShare()
	}
	return c.method(p)
}

// method calls the handler of a method.
func (c router) method(p *place) error {
	ch := &change{call: c.call, p: p}
	switch m := c.r.Method; {
	case m == http.MethodGet || m == http.MethodHead:
		return c.get(p)
	case m == http.MethodOptions:
		return c.allowed(p)
	case m == "PROPFIND" || m == "PROPPATCH" || m == "LOCK" || m == "UNLOCK" || m == "COPY":
		return ch.dav()
	case m == http.MethodPatch:
		return (&payload{change: ch}).patch()
	case m == http.MethodPut:
		return (&payload{change: ch}).put()
	case m == http.MethodDelete:
		return ch.remove()
	case m == "MKCOL":
		return ch.makeDir()
	case m == "MOVE":
		return ch.move()
	}
	return errMethod
}

// allowed answers OPTIONS.
func (c router) allowed(p *place) error {
	h := c.w.Header()
	h.Set("Allow", "GET, HEAD, OPTIONS, PROPFIND")
	if p.tree != nil && p.mustChange() == nil && p.access.most >= rightWrite {
		h.Set("Allow", "GET, HEAD, OPTIONS, PUT, PATCH, DELETE, MKCOL, MOVE, COPY, PROPFIND, PROPPATCH, LOCK, UNLOCK")
	}
	h.Set("DAV", "1, 2")
	h.Set("MS-Author-Via", "DAV")

	c.w.WriteHeader(http.StatusOK)
	return nil
}

// stands reports whether a request is for what this server has under a name of the root: a file or
// a volume with that name goes before it, and other methods than GET are about such a file.
func (c router) stands() bool {
	return (c.r.Method == http.MethodGet || c.r.Method == http.MethodHead) && !c.named(c.path[1:])
}

// named reports whether there is a file or a volume with a name in the root.
func (c router) named(name string) bool {
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

// get answers GET and HEAD.
func (c router) get(p *place) error {
	if p.tree == nil {
		return listVolumes(c.call)
	}
	g := &get{call: c.call, p: p}
	if err := g.lookAt(); err != nil {
		return err
	}
	query := c.r.URL.Query()
	switch {
	case query.Has("versions"):
		return (&history{g}).versions()
	case query.Has("diff"):
		return (&history{g}).difference()
	case g.info.IsDir() && !p.dir:
		g.redirectDir()
		return nil
	case !g.info.IsDir() && p.dir:
		return fs.ErrNotExist
	case g.info.IsDir():
		return g.listing()
	case query.Has("view"):
		return g.viewFile()
	}
	return g.content()
}
