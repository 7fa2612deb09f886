package serve

import (
	"errors"
	"io/fs"
	"net/http"
	"path"

	"github.com/foliofs/folio/adapter/dav"
)

// A davScope is what a request by WebDAV reaches: what the same request reaches without it.
type davScope struct{ p *place }

var _ dav.Scope = davScope{}

// Path resolves the path of a URL behind the tree's.
func (s davScope) Path(in dav.Lookuper, name string, follow, change bool) (string, error) {
	need := rightRead
	if change {
		need = rightWrite
	}
	real, err := s.p.resolve(in, name, follow, need)
	if err != nil && !isPathError(err) {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if err == nil && change {
		if _, missing := in.Lstat(real); missing != nil && checkName(path.Base(real)) != nil {
			err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
		}
	}
	return real, err
}

// Shows reports whether a listing has a file.
func (s davScope) Shows(in dav.Lookuper, name string) bool {
	_, err := s.Path(in, name, true, false)
	return err == nil
}

// dav lets the WebDAV handler answer.
func (c *call) dav(p *place) error {
	if p.tree == nil || p.snapshot != "" || p.share != nil || p.vol.dav == nil {
		return errMethod
	}
	if err := c.mayDav(p); err != nil {
		return err
	}
	c.w.Header().Set("Cache-Control", "no-store")
	r := c.r.WithContext(dav.WithScope(c.r.Context(), davScope{p}))
	p.vol.dav.ServeHTTP(c.w, r)
	return nil
}

// mayDav checks rights and conditions, of which package dav knows nothing.
func (c *call) mayDav(p *place) error {
	need := rightWrite
	if c.r.Method == "PROPFIND" || c.r.Method == "COPY" {
		need = rightRead
	}
	if need == rightWrite {
		if err := c.mustChange(p); err != nil {
			return err
		}
	}
	real, info, err := p.lookup(p.vol, p.name, true, need)
	if err != nil {
		return missingFor(c.r.Method, err)
	}
	recursive := c.r.Method == "MOVE" || c.r.Method == "DELETE"
	if recursive && (p.name == "." || !p.access.least(p.shown(real)).allows(rightWrite)) {
		return errDenied
	}
	if c.r.Method == "COPY" && !p.access.least(p.shown(real)).allows(rightRead) {
		return errDenied
	}
	if info == nil && need == rightWrite {
		if err := checkName(path.Base(real)); err != nil {
			return err
		}
	}
	if c.r.Method == "COPY" || c.r.Method == "MOVE" {
		return c.mayReplace(p)
	}
	return c.conditions(p, info)
}

// missingFor is the answer to a path below nothing: a conflict where something would be made.
func missingFor(method string, err error) error {
	if method == http.MethodPut || method == "MKCOL" || method == "LOCK" {
		return missingParent(err)
	}
	return err
}

// mayReplace checks the destination of a COPY or MOVE.
func (c *call) mayReplace(p *place) error {
	if err := c.mustChange(p); err != nil {
		return err
	}
	to, err := c.destination(p)
	if err != nil {
		return err
	}
	defer to.release()
	real, old, err := to.lookup(to.vol, to.name, false, rightWrite)
	if err != nil {
		return missingParent(err)
	}
	if old == nil {
		return checkName(path.Base(real))
	}
	if !to.access.least(to.shown(real)).allows(rightWrite) {
		return errDenied
	}
	return nil
}

func isPathError(err error) bool {
	_, ok := errors.AsType[*fs.PathError](err)
	return ok
}
