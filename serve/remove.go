package serve

import (
	"encoding/json"
	"io/fs"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve/internal/page"
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
		if err := c.mustBeFree(tx, real, true); err != nil {
			return err
		}
		c.endLocks(real, true)
		id, err = c.dispose(tx, real)
		return err
	})
	if err != nil {
		return err
	}
	return c.removed(id)
}

// removed answers a script with the URL that takes the removal back, if there is one.
func (c *change) removed(id string) error {
	if id == "" || !strings.Contains(c.r.Header.Get("Accept"), "application/json") {
		c.created(false)
		return nil
	}
	c.w.Header().Set("Cache-Control", "no-store")
	c.w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(c.w).Encode(map[string]string{"undo": c.p.tree.undoHref(id)})
}

// undoHref returns the URL that takes a removal back.
func (t *tree) undoHref(id string) string {
	return t.base + undoPath + strings.TrimPrefix(t.prefix+"/", "/") + id
}

// removeSelected answers the form that removes several entries of a directory, all or none. A
// reader without scripts comes to the page of the directory, which offers to take it back.
func removeSelected(c *call) error {
	s, err := newSelection(c)
	if err != nil {
		return err
	}
	defer s.p.release()
	if c.s.options.Trash <= 0 {
		if asked, err := c.confirm(s.question()); asked {
			return err
		}
	}
	id := ""
	err = s.update(func(tx *folio.Tx) error {
		var all []string
		err := s.each(func(c *change, _ string) error {
			real, info, err := c.p.lookup(tx, c.p.name, false, rightWrite)
			if err == nil {
				err = c.mayRemove(real, info)
			}
			if err == nil {
				err = c.mustBeFree(tx, real, true)
			}
			if err == nil {
				c.endLocks(real, true)
			}
			all = append(all, real)
			return err
		})
		if err == nil {
			id, err = s.dispose(tx, all...)
		}
		return err
	})
	if err != nil {
		return err
	}
	if c.wantsPage() {
		to := s.p.href(s.p.name, true)
		if id != "" {
			to += "?removed=" + id
		}
		c.redirect(to)
		return nil
	}
	return s.removed(id)
}

// question asks before entries are removed for good.
func (s *selection) question() *page.Question {
	return &page.Question{
		Heading: "Remove this for good?", Text: "This server keeps no trash. What is removed cannot be taken back.", Items: s.names,
		Action: s.s.base + removePath, Button: "Remove for good", Back: s.p.href(s.p.name, true),
	}
}

// mayRemove checks the conditions of a request, and the rights to all that goes with a directory.
func (c *change) mayRemove(real string, info fs.FileInfo) error {
	if info == nil || c.p.dir && !info.IsDir() {
		return fs.ErrNotExist
	}
	if !c.p.access.least(c.p.shown(real)).allows(rightWrite) {
		return errDenied
	}
	return c.conditions(info)
}
