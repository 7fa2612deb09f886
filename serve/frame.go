package serve

import (
	"net/url"
	"strings"

	"github.com/foliofs/folio/serve/page"
)

// frame says where a page is.
func (c *call) frame(p *place) page.Frame {
	f := page.Frame{Base: c.s.base, Root: p.root, User: c.user, Snapshot: p.snapshot, RootName: "Volumes"}
	if c.user == "" && c.s.options.Users != nil {
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
	if p.snapshot != "" && p.share == nil {
		live := &place{tree: p.tree, root: c.s.base + p.tree.prefix}
		f.Live = live.href(p.name, p.dir)
	}
	return f
}
