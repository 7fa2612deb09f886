package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve/page"
)

// maxEntries is how many entries of a directory are listed.
const maxEntries = 100_000

var errEntries = refuse(507, "The directory has too many entries to list.")

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// entries lists a directory that resolve has found, without names that no request reaches.
func (p *place) entries(rx *folio.Rx, real string) (list []page.Entry, err error) {
	f, err := rx.Open(real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for {
		infos, err := f.Readdir(1000)
		for _, info := range infos {
			if e, ok := p.entry(rx, real, info); ok {
				list = append(list, e)
			}
		}
		switch {
		case len(list) > maxEntries:
			return nil, errEntries
		case err == io.EOF:
			return list, nil
		case err != nil:
			return nil, err
		}
	}
}

// entry describes a file in a directory. A symbolic link is shown as what it leads to, if it leads
// to something that the user may see.
func (p *place) entry(rx *folio.Rx, dir string, info fs.FileInfo) (e page.Entry, ok bool) {
	name := info.Name()
	full := path.Join(dir, name)
	if name == private || p.access.at(p.shown(full)) == rightNone {
		return e, false
	}
	e = page.Entry{Name: name, IsDir: info.IsDir(), Size: info.Size(), ModTime: info.ModTime(), Mode: info.Mode()}
	if info.Mode()&fs.ModeSymlink != 0 {
		real, err := p.resolve(rx, p.below(full), true, rightRead)
		if err != nil {
			return e, true // what it says is not for clients, either
		}
		e.Link, _ = rx.Readlink(full)
		if info, err = rx.Lstat(real); err != nil {
			return e, true
		}
		e.IsDir, e.Size, e.ModTime = info.IsDir(), info.Size(), info.ModTime()
	}
	if info.Mode().IsRegular() {
		e.ETag = p.etag(info)
	}
	return e, true
}

// below returns the path in the tree, or in the share, of a path in the volume.
func (p *place) below(real string) string { return relative(p.within, real) }

// relative returns a path in a directory as seen from there.
func relative(dir, p string) string {
	if dir == "." {
		return p
	}
	if p = strings.TrimPrefix(strings.TrimPrefix(p, dir), "/"); p == "" {
		return "."
	}
	return p
}

// listing answers with the entries of a directory.
func (c *call) listing(p *place, f *found) error {
	c.w.Header().Add("Vary", "Accept")
	c.w.Header().Set("Cache-Control", c.cacheControl())
	if c.wantsJSON() {
		return c.listJSON(p, f.list)
	}
	d := &page.Directory{Frame: c.frame(p), Entries: f.list, Order: page.ParseOrder(c.r.URL.Query())}
	if err := c.describe(p, d, f); err != nil {
		return err
	}
	d.Readme = c.readme(p, f)
	c.startPage(200)
	return c.s.pages.WriteDirectory(c.w, d)
}

// frame says where a page is.
func (c *call) frame(p *place) page.Frame {
	f := page.Frame{Base: c.s.base, Root: p.root, User: c.user, Snapshot: p.snapshot, RootName: "Volumes"}
	if c.user == "" && c.s.options.Users != nil {
		f.Login = c.s.base + loginPath + "?to=" + url.QueryEscape(c.r.URL.EscapedPath())
	}
	if p.tree == nil {
		if len(c.s.trees) == 1 {
			f.RootName = c.s.trees[0].Name
		}
		return f
	}
	if f.RootName = p.tree.Name; p.share == nil {
		f.Search = c.s.base + searchPath + p.tree.prefix
	}
	if p.name != "." {
		f.Path = p.name
	}
	if p.share != nil {
		f.RootName = path.Base(p.within)
		if p.within == "." {
			f.RootName = p.tree.Name
		}
		f.Snapshot, f.Login = "", ""
	}
	if p.snapshot != "" && p.share == nil {
		live := &place{tree: p.tree, root: c.s.base + p.tree.prefix}
		f.Live = live.href(p.name, p.dir)
	}
	return f
}

// describe says what can be done with a directory.
func (c *call) describe(p *place, d *page.Directory, f *found) error {
	at := p.access.at(p.shown(f.real))
	live := p.snapshot == "" && !p.tree.ReadOnly
	d.Writable, d.Uploadable = at >= rightWrite && live, at == rightUpload && live
	d.Share, d.Versions = d.Writable || at >= rightWrite && !p.tree.ReadOnly, p.share == nil
	d.MaxUpload = c.s.options.MaxBody
	if at >= rightUpload && at != rightRead && live {
		d.Tus = c.s.base + tusPath
	}
	if at == rightUpload {
		return nil
	}
	archive := c.s.base + archivePath + strings.TrimSuffix(strings.TrimPrefix(p.href(p.name, true), c.s.base+"/"), "/")
	d.Zip, d.Tar = archive+".zip", archive+".tar"
	if p.share != nil {
		return nil
	}
	snapshots, err := c.snapshots(p)
	d.Snapshots, d.Versions = snapshots, len(snapshots) > 0
	return err
}

// readme returns the text that the page of a directory shows, or nil.
func (c *call) readme(p *place, f *found) (text *page.Readme) {
	for _, e := range f.list {
		if !e.Mode.IsRegular() || !page.IsReadme(e.Name, e.Size) {
			continue
		}
		err := p.view(c.r.Context(), func(rx *folio.Rx) error {
			data, err := rx.ReadFile(path.Join(f.real, e.Name))
			text = &page.Readme{Name: e.Name, Text: data}
			return err
		})
		if err == nil && int64(len(text.Text)) == e.Size {
			return text
		}
	}
	return nil
}

// snapshots returns those of the volume, the newest first.
func (c *call) snapshots(p *place) (list []page.Snapshot, err error) {
	all, err := p.vol.Snapshots(c.r.Context())
	if err != nil {
		if errors.Is(err, errors.ErrUnsupported) {
			err = nil
		}
		return nil, err
	}
	for _, s := range slices.Backward(all) {
		at := &place{tree: p.tree, root: c.s.base + snapshotPath + url.PathEscape(s.Name) + p.tree.prefix}
		list = append(list, page.Snapshot{Name: s.Name, Time: s.Time, Href: at.href(p.name, true)})
	}
	return list, nil
}

// A listedFile is an entry as JSON has it.
type listedFile struct {
	Name     string    `json:"name"`
	Type     string    `json:"type"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Mode     string    `json:"mode"`
	Link     string    `json:"link,omitempty"`
	ETag     string    `json:"etag,omitempty"`
}

func (c *call) listJSON(p *place, list []page.Entry) error {
	files := make([]listedFile, len(list))
	for i, e := range list {
		files[i] = listedFile{Name: e.Name, Type: typeName(&e), Size: e.Size, Modified: e.ModTime.UTC(), Mode: e.Mode.String(), Link: e.Link, ETag: e.ETag}
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(200)
	return json.NewEncoder(c.w).Encode(map[string]any{"path": strings.TrimSuffix("/"+p.name, "/."), "entries": files})
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

// listVolumes answers with the volumes that the user may see.
func (c *call) listVolumes() error {
	p := &place{root: c.s.base, access: c.access(), name: "."}
	f := &found{}
	for _, t := range c.s.trees {
		if p.access.at(t.prefix) == rightNone {
			continue
		}
		e := page.Entry{Name: t.Name, IsDir: true, Mode: fs.ModeDir | 0o755}
		if info, err := t.stat(); err == nil {
			e.ModTime = info.ModTime()
		}
		f.list = append(f.list, e)
	}
	if len(f.list) == 0 {
		return errDenied
	}
	c.w.Header().Add("Vary", "Accept")
	c.w.Header().Set("Cache-Control", c.cacheControl())
	if c.wantsJSON() {
		return c.listJSON(p, f.list)
	}
	c.startPage(200)
	return c.s.pages.WriteDirectory(c.w, &page.Directory{Frame: c.frame(p), Entries: f.list, Order: page.ParseOrder(c.r.URL.Query())})
}

func (t *tree) stat() (fs.FileInfo, error) {
	o, err := t.acquire()
	if err != nil {
		return nil, err
	}
	defer o.release()
	return o.Stat(t.Dir)
}

// viewFile answers with the page of a file.
func (c *call) viewFile(p *place, f *found) error {
	e := page.Entry{Name: path.Base(p.name), Size: f.info.Size(), ModTime: f.info.ModTime(), Mode: f.info.Mode(), ETag: p.etag(f.info)}
	view := &page.File{Frame: c.frame(p), Entry: e, Plain: c.r.URL.Query().Get("view") == "text"}
	view.Versions = p.share == nil
	view.Writable = p.snapshot == "" && !p.tree.ReadOnly && p.access.at(p.shown(f.real)) >= rightWrite
	view.Share = p.share == nil && !p.tree.ReadOnly && p.access.at(p.shown(f.real)) >= rightWrite
	if page.WantsContent(e.Name, e.Size) && f.info.Mode().IsRegular() {
		var err error
		if view.Content, err = c.startOf(p, f, page.MaxPreview); err != nil {
			return err
		}
	}
	if err := c.describeFile(p, view, f); err != nil {
		return err
	}
	c.startPage(200)
	return c.s.pages.WriteFile(c.w, view)
}

// startOf returns the first bytes of a file.
func (c *call) startOf(p *place, f *found, most int64) (data []byte, err error) {
	if f.all {
		return f.data, nil
	}
	err = p.view(c.r.Context(), func(rx *folio.Rx) error {
		data, err = readStart(rx, f.real, most)
		return err
	})
	return data, err
}

func readStart(rx *folio.Rx, real string, most int64) ([]byte, error) {
	file, err := rx.Open(real)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

// describeFile finds the files before and after one.
func (c *call) describeFile(p *place, view *page.File, f *found) error {
	dir := *p
	dir.name = path.Dir(p.name)
	return p.view(context.WithoutCancel(c.r.Context()), func(rx *folio.Rx) error {
		real, err := dir.resolve(rx, dir.name, true, rightRead)
		if err != nil {
			return nil // the user may see the file alone
		}
		list, err := dir.entries(rx, real)
		if err != nil {
			return nil // too many entries
		}
		list = slices.DeleteFunc(list, func(e page.Entry) bool { return e.IsDir })
		at := slices.IndexFunc(list, func(e page.Entry) bool { return e.Name == view.Entry.Name })
		if at > 0 {
			view.Previous = list[at-1].Name
		}
		if at >= 0 && at+1 < len(list) {
			view.Next = list[at+1].Name
		}
		return nil
	})
}
