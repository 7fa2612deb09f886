package serve

import (
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/foliofs/folio"
)

var (
	errInItself  = refuse(http.StatusForbidden, "A directory cannot be moved into itself.")
	errElsewhere = refuse(http.StatusBadGateway, "Files are moved and copied within one volume of this server only.")
	errOverwrite = refuse(http.StatusPreconditionFailed, "There is a file with the new name.")
)

// destination returns the place of the Destination header, in the same tree. The caller must
// release it.
func (c *change) destination() (*place, error) {
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
	if to.tree != c.p.tree || to.vol != c.p.vol || to.share != c.p.share {
		to.release()
		return nil, errElsewhere
	}
	if err := to.mustChange(); err != nil || to.name == "." {
		to.release()
		if err == nil {
			err = errRoot
		}
		return nil, err
	}
	return to, nil
}

// move answers MOVE, by one transaction.
func (c *change) move() error {
	if err := c.p.mustChange(); err != nil {
		return err
	}
	to, err := c.destination()
	if err != nil {
		return err
	}
	defer to.release()
	if c.p.name == "." {
		return errRoot
	}
	created := false
	err = c.update(func(tx *folio.Tx) error {
		created, err = c.rename(to, tx)
		return err
	})
	if err == nil {
		c.created(created)
	}
	return err
}

// rename moves a file, and what was there before to the trash.
func (c *change) rename(to *place, tx *folio.Tx) (created bool, err error) {
	from, info, err := c.p.lookup(tx, c.p.name, false, rightWrite)
	if err != nil {
		return false, err
	}
	if err := c.mayRemove(from, info); err != nil {
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
		if _, err := c.dispose(tx, real); err != nil {
			return false, err
		}
	}
	return old == nil, tx.Rename(from, real)
}

// mayTake checks the name that a file is to get, and what has that name already.
func (c *change) mayTake(to *place, tx *folio.Tx, real string, old fs.FileInfo) error {
	if err := to.mustBeFree(); err != nil {
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
