package serve

import (
	"net/http"
	"path"

	"github.com/foliofs/folio/adapter/dav"
)

// dav lets the WebDAV handler answer.
func (c *change) dav() error {
	if c.p.tree == nil || c.p.snapshot != "" || c.p.share != nil || c.p.vol.dav == nil {
		return errMethod
	}
	if err := c.mayDav(); err != nil {
		return err
	}
	c.w.Header().Set("Cache-Control", "no-store")
	c.p.vol.dav.ServeHTTP(c.w, c.davRequest())
	return nil
}

// davRequest returns the request as package dav takes it: with what its user reaches.
func (c *change) davRequest() *http.Request {
	return c.r.WithContext(dav.WithUser(dav.WithScope(c.r.Context(), davScope{c.p, c}), c.user))
}

// mayDav checks rights and conditions, of which package dav knows nothing.
func (c *change) mayDav() error {
	need := rightWrite
	if c.r.Method == "PROPFIND" || c.r.Method == "COPY" {
		need = rightRead
	}
	if need == rightWrite {
		if err := c.p.mustChange(); err != nil {
			return err
		}
	}
	real, info, err := c.p.lookup(c.p.vol, c.p.name, true, need)
	if err != nil {
		return missingFor(c.r.Method, err)
	}
	recursive := c.r.Method == "MOVE" || c.r.Method == "DELETE"
	if recursive && (c.p.name == "." || !c.p.access.least(c.p.shown(real)).allows(rightWrite)) {
		return errDenied
	}
	if c.r.Method == "COPY" && !c.p.access.least(c.p.shown(real)).allows(rightRead) {
		return errDenied
	}
	if info == nil && need == rightWrite {
		if err := checkName(path.Base(real)); err != nil {
			return err
		}
	}
	if c.r.Method == "COPY" || c.r.Method == "MOVE" {
		return c.mayReplace(c.r.Method == "MOVE" && info != nil && info.IsDir())
	}
	return c.conditions(info)
}

// missingFor is the answer to a path below nothing: a conflict where something would be made.
func missingFor(method string, err error) error {
	if method == http.MethodPut || method == "MKCOL" || method == "LOCK" {
		return missingParent(err)
	}
	return err
}

// mayReplace checks the destination of a COPY or MOVE. A directory that is moved comes with all
// that is in it.
func (c *change) mayReplace(whole bool) error {
	if err := c.p.mustChange(); err != nil {
		return err
	}
	to, err := c.destination()
	if err != nil {
		return err
	}
	defer to.release()
	real, old, err := to.lookup(to.vol, to.name, false, rightWrite)
	if err != nil {
		return missingParent(err)
	}
	if (old != nil || whole) && !to.access.least(to.shown(real)).allows(rightWrite) {
		return errDenied
	}
	if old == nil {
		return checkName(path.Base(real))
	}
	return nil
}

// refusedByDav is the answer to what locks or an If header refuse.
func refusedByDav(r *dav.Refusal) *failure {
	f := &failure{status: r.Status, message: "The request cannot be read.", xml: r.Body()}
	switch r.Status {
	case http.StatusLocked:
		f.message = "Another client has locked this."
	case http.StatusPreconditionFailed:
		f.message = errCondition.Error()
	}
	return f
}
