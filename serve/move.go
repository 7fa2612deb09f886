package serve

import (
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/dav"
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
	err = c.mayReach(to)
	if err == nil && to.name == "." {
		err = errRoot
	}
	if err != nil {
		to.release()
		return nil, err
	}
	return to, nil
}

// mayReach refuses a destination elsewhere, or where nothing can be changed.
func (c *change) mayReach(to *place) error {
	if to.tree != c.p.tree || to.vol != c.p.vol || to.share != c.p.share {
		return errElsewhere
	}
	return to.mustChange()
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

var errNoFolder = refuse(http.StatusConflict, "There is no such folder.")

// moveSelected answers the form that moves several entries of a directory to another one, all or
// none. The field to is the path of that directory in the tree.
func moveSelected(c *call) error {
	s, err := newSelection(c)
	if err != nil {
		return err
	}
	defer s.p.release()
	to, err := c.findIn(s.p.root, strings.Trim(c.r.PostForm.Get("to"), "/"))
	if err != nil {
		return err
	}
	defer to.release()
	if err := s.mayReach(to); err != nil {
		return err
	}
	c.r.Header.Set("Overwrite", "F")
	err = s.update(func(tx *folio.Tx) error {
		_, info, err := to.lookup(tx, to.name, true, rightUpload)
		switch {
		case err != nil:
			return missingParent(err)
		case info == nil || !info.IsDir():
			return errNoFolder
		}
		return s.each(func(c *change, name string) error {
			target := *to
			target.name = path.Join(to.name, name)
			_, err := c.rename(&target, tx)
			return err
		})
	})
	if err == nil {
		s.done(s.p.href(s.p.name, true))
	}
	return err
}

// rename moves a file, and a file that it replaces to the trash.
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
	if err := c.p.vol.dav.Confirm(tx, c.davRequest(), dav.Change{Path: from, Placed: true}, dav.Change{Path: real, Placed: true}); err != nil {
		return false, err
	}
	if err := c.mayTake(to, tx, real, old); err != nil {
		return false, err
	}
	if info.IsDir() && !to.access.least(to.shown(real)).allows(rightWrite) {
		return false, errDenied
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
	c.endLocks(from, true)
	c.endLocks(real, false)
	return old == nil, tx.Rename(from, real)
}

// mayTake checks the name that a file is to get, and a file that already exists there.
func (c *change) mayTake(to *place, tx *folio.Tx, real string, old fs.FileInfo) error {
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
