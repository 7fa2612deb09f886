package serve

import (
	"context"
	"io"
	"path"
	"slices"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve/page"
)

// viewFile answers with the page of a file.
func (g *get) viewFile() error {
	e := page.Entry{Name: path.Base(g.p.name), Size: g.info.Size(), ModTime: g.info.ModTime(), Mode: g.info.Mode(), ETag: g.p.etag(g.info)}
	view := &page.File{Frame: g.frame(g.p), Entry: e, Plain: g.r.URL.Query().Get("view") == "text"}
	view.Versions = g.p.share == nil
	view.Writable = g.p.snapshot == "" && !g.p.tree.ReadOnly && g.p.access.at(g.p.shown(g.real)) >= rightWrite
	view.Share = g.p.share == nil && !g.p.tree.ReadOnly && g.p.access.at(g.p.shown(g.real)) >= rightWrite
	if page.WantsContent(e.Name, e.Size) && g.info.Mode().IsRegular() {
		var err error
		if view.Content, err = g.startOf(page.MaxPreview); err != nil {
			return err
		}
	}
	if err := g.describeFile(view); err != nil {
		return err
	}
	g.startPage(200)
	return g.s.pages.WriteFile(g.w, view)
}

// startOf returns the first bytes of a file.
func (g *get) startOf(most int64) (data []byte, err error) {
	if g.all {
		return g.data, nil
	}
	err = g.p.view(g.r.Context(), func(rx *folio.Rx) error {
		data, err = readStart(rx, g.real, most)
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
func (g *get) describeFile(view *page.File) error {
	dir := *g.p
	dir.name = path.Dir(g.p.name)
	return g.p.view(context.WithoutCancel(g.r.Context()), func(rx *folio.Rx) error {
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
