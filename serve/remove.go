package serve

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"strings"

	"github.com/foliofs/folio"
)

// remove answers DELETE. The file goes to the trash, if there is one.
func (c *change) remove() error {
	if err := c.p.mustChange(); err != nil {
		return err
	}
	if c.p.name == "." {
		return errRoot
	}
	id := ""
	err := c.update(func(tx *folio.Tx) error {
		real, info, err := c.p.lookup(tx, c.p.name, false, rightWrite)
		if err != nil {
			return err
		}
		if err := c.mayRemove(real, info); err != nil {
			return err
		}
		id, err = c.dispose(tx, real)
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
	return json.NewEncoder(c.w).Encode(map[string]string{"undo": c.s.base + undoPath + strings.TrimPrefix(c.p.tree.prefix+"/", "/") + id})
}

// mayRemove checks the conditions of a request, and the rights to all that goes with a directory.
func (c *change) mayRemove(real string, info fs.FileInfo) error {
	if info == nil || c.p.dir && !info.IsDir() {
		return fs.ErrNotExist
	}
	if !c.p.access.least(c.p.shown(real)).allows(rightWrite) {
		return errDenied
	}
	if err := c.p.mustBeFree(); err != nil {
		return err
	}
	return c.conditions(info)
}
