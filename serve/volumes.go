package serve

import (
	"io/fs"

	"github.com/foliofs/folio/serve/internal/page"
)

// volumeEntries lists the volumes that the user may see.
func volumeEntries(c *call) (list []page.Entry, err error) {
	access := c.access()
	for _, t := range c.s.trees {
		if access.at(t.prefix) == rightNone {
			continue
		}
		e := page.Entry{Name: t.Name, IsDir: true, Mode: fs.ModeDir | 0o755}
		if info, err := t.stat(); err == nil {
			e.ModTime = info.ModTime()
		}
		list = append(list, e)
	}
	if len(list) == 0 {
		return nil, errDenied
	}
	return list, nil
}

// listVolumes answers with them.
func listVolumes(c *call) error {
	p := &place{root: c.s.base, access: c.access(), name: "."}
	list, err := volumeEntries(c)
	if err != nil {
		return err
	}
	c.w.Header().Set("Cache-Control", c.cacheControl())
	if c.wantsJSON() {
		return writeList(c, p, list)
	}
	c.startPage(200)
	return c.s.pages.WriteDirectory(c.w, &page.Directory{Frame: c.frame(p), Entries: list, Order: page.ParseOrder(c.r.URL.Query())})
}

func (t *tree) stat() (fs.FileInfo, error) {
	o, err := t.acquire()
	if err != nil {
		return nil, err
	}
	defer o.release()
	return o.Stat(t.Dir)
}
