package serve

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"strings"

	"github.com/foliofs/folio"
)

// remove answers DELETE. The file goes to the trash, if there is one.
func (c *call) remove(p *place) error {
	if err := c.mustChange(p); err != nil {
		return err
	}
	if p.name == "." {
		return errRoot
	}
	id := ""
	err := c.update(p, func(tx *folio.Tx) error {
		real, info, err := p.lookup(tx, p.name, false, rightWrite)
		if err != nil {
			return err
		}
		if err := c.mayRemove(p, real, info); err != nil {
			return err
		}
		id, err = c.dispose(p, tx, real)
		return err
	})
	if err != nil {
		return err
	}
	c.w.Header().Set("Cache-Control", "no-store")
	if id == "" || !strings.Contains(c.r.Header.Get("Accept"), "application/json") {
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	c.w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(c.w).Encode(map[string]string{"undo": c.s.base + undoPath + strings.TrimPrefix(p.tree.prefix+"/", "/") + id})
}

// mayRemove checks the conditions of a request, and the rights to all that goes with a directory.
func (c *call) mayRemove(p *place, real string, info fs.FileInfo) error {
	if info == nil || p.dir && !info.IsDir() {
		return fs.ErrNotExist
	}
	if !p.access.least(p.shown(real)).allows(rightWrite) {
		return errDenied
	}
	if err := c.mustBeFree(p, p.name); err != nil {
		return err
	}
	return c.conditions(p, info)
}

// shown returns the path by which rights name a path in the volume.
func (p *place) shown(real string) string { return p.tree.shown(real) }

func (t *tree) shown(real string) string {
	below := relative(t.Dir, real)
	if below == "." {
		below = ""
	}
	return t.prefix + "/" + below
}
