package serve

import (
	"io/fs"
	"path"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/dav"
	"github.com/foliofs/folio/serve/internal/page"
)

// dav lets the WebDAV handler answer.
func (c *change) dav() error {
	if c.p.tree == nil && c.r.Method == "PROPFIND" {
		return c.davVolumes()
	}
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

// mayDav checks rights and conditions that package dav does not know.
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
	var real string
	var info fs.FileInfo
	err := c.p.viewAt(c.r.Context(), false, func(rx *folio.Rx) (err error) {
		real, info, err = c.p.lookup(rx, c.p.name, true, need)
		return err
	})
	if err != nil {
		return missingFor(c.r.Method, err)
	}
	if c.r.Method == "COPY" && !c.p.access.least(c.p.shown(real)).allows(rightRead) {
		return errDenied
	}
	if info == nil && need == rightWrite {
		if err := checkName(path.Base(real)); err != nil {
			return err
		}
	}
	if err := c.conditions(info); err != nil || c.r.Method != "COPY" {
		return err
	}
	return c.mayReplace()
}

// davVolumes answers PROPFIND of the directory that has all volumes in it.
func (c *change) davVolumes() error {
	entries, err := volumeEntries(c.call)
	if err != nil {
		return err
	}
	dirs := make([]fs.FileInfo, len(entries))
	for i := range entries {
		dirs[i] = volumeInfo{entries[i]}
	}
	c.w.Header().Set("Cache-Control", "no-store")
	dav.ServeList(c.w, c.r, c.s.base, dirs)
	return nil
}

// A volumeInfo describes the directory of a volume.
type volumeInfo struct{ page.Entry }

func (v volumeInfo) Name() string       { return v.Entry.Name }
func (v volumeInfo) Size() int64        { return 0 }
func (v volumeInfo) Mode() fs.FileMode  { return v.Entry.Mode }
func (v volumeInfo) ModTime() time.Time { return v.Entry.ModTime }
func (v volumeInfo) IsDir() bool        { return true }
func (v volumeInfo) Sys() any           { return nil }

// missingFor is the answer to a path below nothing: a conflict where something would be made.
func missingFor(method string, err error) error {
	if method == "LOCK" {
		return missingParent(err)
	}
	return err
}

// mayReplace checks the destination of a COPY.
func (c *change) mayReplace() error {
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
	if old != nil && !to.access.least(to.shown(real)).allows(rightWrite) {
		return errDenied
	}
	if old == nil {
		return checkName(path.Base(real))
	}
	return nil
}
