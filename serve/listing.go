package serve

import (
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve/internal/page"
)

// listing answers with the entries of a directory.
func (g *get) listing() error {
	g.w.Header().Set("Cache-Control", g.cacheControl())
	if g.wantsJSON() {
		return writeList(g.call, g.p, g.list)
	}
	d := &page.Directory{Frame: g.frame(g.p), Entries: g.list, Order: page.ParseOrder(g.r.URL.Query())}
	if err := g.describe(d); err != nil {
		return err
	}
	if id := g.r.URL.Query().Get("removed"); d.Writable && id != "" {
		d.Undo = g.p.tree.undoHref(url.PathEscape(id))
	}
	d.Readme = g.readme()
	g.startPage(200)
	return g.s.pages.WriteDirectory(g.w, d)
}

// describe lists the actions on a directory.
func (g *get) describe(d *page.Directory) error {
	at := g.p.access.at(g.p.shown(g.real))
	live := g.p.snapshot == "" && !g.p.tree.ReadOnly
	d.Writable, d.Uploadable = at >= rightWrite && live, at == rightUpload && live
	d.Share, d.Versions = d.Writable || at >= rightWrite && !g.p.tree.ReadOnly, g.p.share == nil
	d.MaxUpload, d.Forever = g.s.options.MaxBody, g.s.options.Trash <= 0
	if at >= rightUpload && at != rightRead && live {
		d.Tus = g.s.base + tusPath
	}
	if at == rightUpload {
		return nil
	}
	archive := g.s.base + archivePath + strings.TrimSuffix(strings.TrimPrefix(g.p.href(g.p.name, true), g.s.base+"/"), "/")
	d.Zip, d.Tar = archive+".zip", archive+".tar"
	if g.p.share != nil {
		return nil
	}
	snapshots, err := g.snapshots()
	d.Snapshots, d.Versions = snapshots, len(snapshots) > 0
	return err
}

// readme returns the text that the page of a directory shows, or nil.
func (g *get) readme() (text *page.Readme) {
	for _, e := range g.list {
		if !e.Mode.IsRegular() || !page.IsReadme(e.Name, e.Size) {
			continue
		}
		err := g.p.view(g.r.Context(), func(rx *folio.Rx) error {
			data, err := rx.ReadFile(path.Join(g.real, e.Name))
			text = &page.Readme{Name: e.Name, Text: data}
			return err
		})
		if err == nil && int64(len(text.Text)) == e.Size {
			return text
		}
	}
	return nil
}

// snapshots returns the snapshots of the volume, the newest first.
func (g *get) snapshots() (list []page.Snapshot, err error) {
	all, err := g.p.vol.Snapshots(g.r.Context())
	if err != nil {
		if errors.Is(err, errors.ErrUnsupported) {
			err = nil
		}
		return nil, err
	}
	for _, s := range slices.Backward(all) {
		at := &place{tree: g.p.tree, root: g.s.base + snapshotPath + url.PathEscape(s.Name) + g.p.tree.prefix}
		list = append(list, page.Snapshot{Name: s.Name, Time: s.Time, Href: at.href(g.p.name, true)})
	}
	return list, nil
}

// A listedFile is an entry as JSON has it.
type listedFile struct {
	Name     string    `json:"name"`
	Href     string    `json:"href"` // the name as URLs have it, with all bytes of one that is not UTF-8
	Type     string    `json:"type"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Mode     string    `json:"mode"`
	Link     string    `json:"link,omitempty"`
	ETag     string    `json:"etag,omitempty"`
}

// writeList answers with a list of entries as JSON.
func writeList(c *call, p *place, list []page.Entry) error {
	files := make([]listedFile, len(list))
	for i, e := range list {
		files[i] = listedFile{Name: e.Name, Href: hrefOf(&e), Type: typeName(&e), Size: e.Size, Modified: e.ModTime.UTC(), Mode: e.Mode.String(), Link: e.Link, ETag: e.ETag}
	}
	return c.writeJSON(map[string]any{"path": strings.TrimSuffix("/"+p.name, "/."), "entries": files})
}

// hrefOf returns the URL of an entry from its directory.
func hrefOf(e *page.Entry) string {
	href := url.PathEscape(e.Name)
	if e.IsDir {
		href += "/"
	}
	return href
}

func typeName(e *page.Entry) string {
	switch {
	case e.IsDir:
		return "directory"
	case e.Mode.IsRegular():
		return "file"
	case e.Mode&fs.ModeSymlink != 0:
		return "link"
	}
	return "other"
}

// redirectDir sends a client to the URL of a directory, which ends in a slash.
func (g *get) redirectDir() {
	to := g.p.href(g.p.name, true)
	if g.r.URL.RawQuery != "" {
		to += "?" + g.r.URL.RawQuery
	}
	g.w.Header().Set("Location", to)
	g.w.Header().Set("Cache-Control", g.cacheControl())
	g.w.WriteHeader(http.StatusMovedPermanently)
}
