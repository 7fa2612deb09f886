package serve

import (
	"net/url"
	"path"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve/internal/page"
)

// frame says where a page is.
func (c *call) frame(p *place) page.Frame {
	f := page.Frame{Base: c.s.base, Root: p.root, User: c.user, Snapshot: p.snapshot, RootName: "Volumes"}
	if c.user == "" && c.who.users != nil {
		f.Login = c.s.base + loginPath + "?to=" + url.QueryEscape(c.r.URL.EscapedPath())
	}
	if p.tree == nil {
		switch byLink := strings.HasPrefix(c.path, sharePath); {
		case byLink:
			f.RootName, f.Login = "files", ""
		case len(c.s.trees) == 1:
			f.RootName = c.s.trees[0].Name
		}
		return f
	}
	if f.RootName = p.rootName(); p.share == nil {
		f.Search = c.s.base + searchPath + p.tree.prefix
	}
	if p.name != "." {
		f.Path = p.name
	}
	if p.share != nil {
		f.Snapshot, f.Login = "", ""
	}
	c.addLists(&f, p)
	if p.snapshot != "" && p.share == nil {
		live := &place{tree: p.tree, root: c.s.base + p.tree.prefix}
		f.Live = live.href(p.name, p.dir)
	}
	return f
}

// addLists adds the ways to the trash and to the links, for those who may have something there.
func (c *call) addLists(f *page.Frame, p *place) {
	if p.share != nil || p.tree.ReadOnly {
		return
	}
	writes := p.access.at(p.shown(path.Join(p.within, p.name))).allows(rightWrite)
	if writes && c.s.options.Trash > 0 {
		f.Trash = c.s.base + trashPath
	}
	if writes || c.user != "" {
		f.Links = c.s.base + linksPath
	}
}

// nearest returns the nearest folder on the way to the file of the request: one that exists, that
// the user may see, and that is not the start.
func (c *call) nearest() (href, name string) {
	p, err := c.find(c.path)
	if err != nil || p.tree == nil {
		return "", ""
	}
	defer p.release()
	_ = p.view(c.r.Context(), func(rx *folio.Rx) error { // without an answer there is no folder
		real, _, err := p.resolveExisting(rx, path.Dir(p.name))
		if err != nil {
			return err
		}
		for real != p.within && !p.access.at(p.shown(real)).allows(rightRead) {
			real = path.Dir(real)
		}
		if !p.access.at(p.shown(real)).allows(rightRead) {
			return errDenied
		}
		near := *p
		near.name = relative(p.within, real)
		href, name = near.href(near.name, true), near.base()
		return nil
	})
	if href == c.s.base+"/" {
		return "", ""
	}
	return href, name
}
