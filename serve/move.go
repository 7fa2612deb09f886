package serve

import (
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/foliofs/folio"
)

// destination returns the place of the Destination header, in the same tree. The caller must
// release it.
func (c *call) destination(p *place) (*place, error) {
	u, err := url.Parse(c.r.Header.Get("Destination"))
	switch {
	case err != nil || c.r.Header.Get("Destination") == "":
		return nil, refuse(http.StatusBadRequest, "The request needs a Destination header.")
	case u.Host != "" && !strings.EqualFold(u.Host, c.r.Host):
		return nil, errElsewhere
	}
	if err := checkTarget(u); err != nil {
		return nil, err
	}
	rest, ok := strings.CutPrefix(u.Path, c.s.base)
	if !ok || !strings.HasPrefix(rest, "/") {
		return nil, errElsewhere
	}
	to, err := c.find(rest)
	if err != nil {
		return nil, err
	}
	if to.tree != p.tree || to.vol != p.vol || to.share != p.share {
		to.release()
		return nil, errElsewhere
	}
	if err := c.mustChange(to); err != nil || to.name == "." {
		to.release()
		if err == nil {
			err = errRoot
		}
		return nil, err
	}
	return to, nil
}

// move answers MOVE, by one transaction.
func (c *call) move(p *place) error {
	if err := c.mustChange(p); err != nil {
		return err
	}
	to, err := c.destination(p)
	if err != nil {
		return err
	}
	defer to.release()
	if p.name == "." {
		return errRoot
	}
	created := false
	err = c.update(p, func(tx *folio.Tx) error {
		created, err = c.rename(p, to, tx)
		return err
	})
	if err == nil {
		c.created(created)
	}
	return err
}

// rename moves a file, and what was there before to the trash.
func (c *call) rename(p, to *place, tx *folio.Tx) (created bool, err error) {
	from, info, err := p.lookup(tx, p.name, false, rightWrite)
	if err != nil {
		return false, err
	}
	if err := c.mayRemove(p, from, info); err != nil {
		return false, err
	}
	real, old, err := to.lookup(tx, to.name, false, rightWrite)
	if err != nil {
		return false, missingParent(err)
	}
	if err := c.mayTake(to, tx, real, old); err != nil {
		return false, err
	}
	switch {
	case real == from:
		return false, refuse(http.StatusForbidden, "This is the name that it has.")
	case covers(from, real) || covers(real, from):
		return false, errInItself
	case old != nil:
		if _, err := c.dispose(to, tx, real); err != nil {
			return false, err
		}
	}
	return old == nil, tx.Rename(from, real)
}

// mayTake checks the name that a file is to get, and what has that name already.
func (c *call) mayTake(to *place, tx *folio.Tx, real string, old fs.FileInfo) error {
	if err := c.mustBeFree(to, to.name); err != nil {
		return err
	}
	if old == nil {
		if err := checkName(path.Base(real)); err != nil {
			return err
		}
		return to.parentExists(tx, real)
	}
	if strings.EqualFold(c.r.Header.Get("Overwrite"), "F") {
		return errOverwrite
	}
	if !to.access.least(to.shown(real)).allows(rightWrite) {
		return errDenied
	}
	return nil
}
