package serve

import (
	"net/http"
	"path"

	"github.com/foliofs/folio"
)

var (
	errBody      = refuse(http.StatusUnsupportedMediaType, "MKCOL takes no body.")
	errTaken     = &failure{status: http.StatusMethodNotAllowed, message: "There is a file with this name.", header: http.Header{"Allow": {"GET, HEAD, OPTIONS, PUT, DELETE, MOVE, COPY, PROPFIND"}}}
	errInItself  = refuse(http.StatusForbidden, "A directory cannot be moved into itself.")
	errElsewhere = refuse(http.StatusBadGateway, "Files are moved and copied within one volume of this server only.")
	errOverwrite = refuse(http.StatusPreconditionFailed, "There is a file with the new name.")
)

// makeDir answers MKCOL.
func (c *call) makeDir(p *place) error {
	if err := c.mustChange(p); err != nil {
		return err
	}
	if c.r.ContentLength != 0 {
		return errBody
	}
	err := c.update(p, func(tx *folio.Tx) error {
		real, info, err := p.lookup(tx, p.name, false, rightUpload)
		switch {
		case err != nil:
			return missingParent(err)
		case info != nil:
			return errTaken
		}
		if err := checkName(path.Base(real)); err != nil {
			return err
		}
		if err := p.parentExists(tx, real); err != nil {
			return err
		}
		if err := c.mustBeFree(p, p.name); err != nil {
			return err
		}
		return tx.Mkdir(real, 0o755)
	})
	if err == nil {
		c.created(true)
	}
	return err
}
