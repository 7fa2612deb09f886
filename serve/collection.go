package serve

import (
	"net/http"
	"path"

	"github.com/foliofs/folio"
)

var (
	errBody  = refuse(http.StatusUnsupportedMediaType, "MKCOL takes no body.")
	errTaken = &failure{status: http.StatusMethodNotAllowed, message: "There is a file with this name.", header: http.Header{"Allow": {"GET, HEAD, OPTIONS, PUT, DELETE, MOVE, COPY, PROPFIND"}}}
)

// makeDir answers MKCOL.
func (c *change) makeDir() error {
	if err := c.p.mustChange(); err != nil {
		return err
	}
	if c.r.ContentLength != 0 {
		return errBody
	}
	if err := c.takeMtime(); err != nil {
		return err
	}
	err := c.update(func(tx *folio.Tx) error {
		real, info, err := c.p.lookup(tx, c.p.name, false, rightUpload)
		switch {
		case err != nil:
			return missingParent(err)
		case info != nil:
			return errTaken
		}
		if err := checkName(path.Base(real)); err != nil {
			return err
		}
		if err := c.p.parentExists(tx, real); err != nil {
			return err
		}
		if err := c.mustBeFree(tx, real, true); err != nil {
			return err
		}
		if err := c.p.share.account(tx, 0, 1); err != nil {
			return err
		}
		if err := tx.Mkdir(real, 0o755); err != nil {
			return err
		}
		return c.setMtime(tx, real, nil)
	})
	if err == nil {
		c.created(true)
	}
	return err
}

// makeParents makes the directories on the way to a file, one after the other: each must be at a
// place where the user may make something.
func (c *change) makeParents(tx *folio.Tx) error {
	p := c.p
	dir, missing, err := p.resolveExisting(tx, path.Dir(p.name))
	if err != nil {
		return missingParent(err)
	}
	if len(missing) > 0 {
		if err := p.share.account(tx, 0, len(missing)); err != nil {
			return err
		}
	}
	for _, e := range missing {
		dir = path.Join(dir, e)
		if err := p.access.check(p.shown(dir), rightUpload); err != nil {
			return err
		}
		if err := c.mustBeFree(tx, dir, true); err != nil {
			return err
		}
		if err := tx.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}
