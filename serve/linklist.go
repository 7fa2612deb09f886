package serve

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/foliofs/folio/serve/internal/page"
)

// A listedLink is a link as JSON has it.
type listedLink struct {
	ID       string    `json:"id"`
	Path     string    `json:"path"` // as in URLs, behind the base
	Rights   string    `json:"rights"`
	State    string    `json:"state"` // open, expired, gone, or denied if its maker has no right any more
	User     string    `json:"user,omitempty"`
	Snapshot string    `json:"snapshot,omitempty"`
	Made     time.Time `json:"made"`
	Expires  time.Time `json:"expires,omitzero"`
	MaxSize  int64     `json:"maxSize,omitempty"`
	Used     int64     `json:"used,omitempty"`
}

// A treeLink is a link of one of the trees.
type treeLink struct {
	Link
	tree *tree
}

// answerLinks answers requests about the links that the user may end: GET for all of them, DELETE
// of one, and POST, by which a form ends one.
func answerLinks(c *call, id string) error {
	id = strings.Trim(id, "/")
	switch m := c.r.Method; {
	case id == "" && (m == http.MethodGet || m == http.MethodHead):
		return listLinks(c)
	case id != "" && (m == http.MethodDelete || m == http.MethodPost):
		return endLink(c, id)
	}
	return errMethod
}

// links returns the links that the user may end, the newest first.
func (c *call) links() (list []treeLink, err error) {
	for _, t := range c.s.trees {
		of, err := c.linksOf(t)
		if err != nil {
			return nil, err
		}
		for _, l := range of {
			if c.mayEnd(l.share, t, l.Path) == nil {
				list = append(list, treeLink{l, t})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b treeLink) int { return b.Made.Compare(a.Made) })
	if len(list) == 0 && c.user == "" && c.who.users != nil {
		return nil, errDenied
	}
	return list, nil
}

func (c *call) linksOf(t *tree) ([]Link, error) {
	o, err := t.acquire()
	if err != nil {
		return nil, err
	}
	defer o.release()
	return Links(c.r.Context(), o.Volume, t.Dir)
}

// state returns the result of opening a link now.
func (c *call) linkState(l *treeLink) string {
	a := c.linkAccess(l.share, l.tree.shown(l.Path))
	switch {
	case l.Expired():
		return "expired"
	case l.Gone:
		return "gone"
	case a == nil || a.at(l.tree.shown(l.Path)) == rightNone:
		return "denied"
	}
	return "open"
}

// rights returns the rights that a link gives, in words.
func (l *Link) rights() string {
	if l.Upload {
		return "upload"
	}
	return "read"
}

func listLinks(c *call) error {
	list, err := c.links()
	if err != nil {
		return err
	}
	c.w.Header().Set("Cache-Control", "no-store")
	if c.wantsJSON() {
		files := make([]listedLink, len(list))
		for i := range list {
			l := &list[i]
			files[i] = listedLink{
				ID: l.ID, Path: l.tree.shown(l.Path), Rights: l.rights(), State: c.linkState(l), User: l.User, Snapshot: l.Snapshot,
				Made: l.Made, Expires: l.Expires, MaxSize: l.MaxSize, Used: l.Used,
			}
		}
		return c.writeJSON(map[string]any{"links": files})
	}
	rows := make([]page.Link, len(list))
	for i := range list {
		l := &list[i]
		rows[i] = page.Link{
			Path: strings.Trim(l.tree.shown(l.Path), "/"), End: c.s.base + linksPath + "/" + l.ID, State: c.linkState(l), Upload: l.Upload,
			User: l.User, Snapshot: l.Snapshot, Made: l.Made, Expires: l.Expires, MaxSize: l.MaxSize, Used: l.Used,
		}
		if !l.Gone {
			live := &place{root: c.s.base + l.tree.prefix}
			if l.Snapshot != "" {
				live.root = c.s.base + snapshotPath + l.Snapshot + l.tree.prefix
			}
			rows[i].Href = live.href(relative(l.tree.Dir, l.Path), false)
		}
	}
	c.startPage(http.StatusOK)
	return c.s.pages.WriteLinks(c.w, &page.Links{Frame: c.frame(&place{root: c.s.base, name: "."}), List: rows})
}

// writeJSON answers with a value, when a reader would get a page.
func (c *call) writeJSON(v any) error {
	c.w.Header().Add("Vary", "Accept")
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(http.StatusOK)
	return json.NewEncoder(c.w).Encode(v)
}

var errLinkGone = refuse(http.StatusNotFound, "There is no such link. It may have ended already.")

// endLink ends a link. A reader without scripts is asked first.
func endLink(c *call, id string) error {
	list, err := c.links()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(l treeLink) bool { return l.ID == id })
	if i < 0 {
		return errLinkGone
	}
	l := &list[i]
	to := c.s.base + linksPath
	ask := &page.Question{
		Heading: "End this link?", Text: "Nobody can open it any more, and it cannot be made again: a new link has another address.",
		Items: []string{l.tree.shown(l.Path)}, Action: to + "/" + id, Button: "End the link", Back: to,
	}
	if asked, err := c.confirm(ask); asked {
		return err
	}
	o, err := l.tree.acquire()
	if err != nil {
		return err
	}
	p := &place{tree: l.tree, vol: o, access: c.access(), within: l.tree.Dir}
	defer p.release()
	ch := &change{call: c, p: p}
	if err := ch.endShare(l.share, l.Path); err != nil {
		return err
	}
	ch.done(to)
	return nil
}
