package serve

import (
	"bytes"
	"context"
	"io"
	"path"
	"slices"
	"strconv"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve/internal/page"
)

// viewFile answers with the page of a file.
func (g *get) viewFile() error {
	e := page.Entry{Name: path.Base(g.p.name), Size: g.info.Size(), ModTime: g.info.ModTime(), Mode: g.info.Mode(), ETag: g.p.etag(g.info)}
	view := &page.File{Frame: g.frame(g.p), Entry: e, Plain: g.r.URL.Query().Get("view") == "text"}
	if g.p.share == nil {
		snapshots, err := g.snapshots()
		if err != nil {
			return err
		}
		view.Versions = len(snapshots) > 0
	}
	view.Writable = g.p.snapshot == "" && !g.p.tree.ReadOnly && g.p.access.at(g.p.shown(g.real)) >= rightWrite
	view.Share = g.p.share == nil && !g.p.tree.ReadOnly && g.p.access.at(g.p.shown(g.real)) >= rightWrite
	if page.WantsContent(e.Name, e.Size) && g.info.Mode().IsRegular() {
		var err error
		if view.Content, err = g.part(view); err != nil {
			return err
		}
	}
	if err := g.describeFile(view); err != nil {
		return err
	}
	g.startPage(200)
	return g.s.pages.WriteFile(g.w, view)
}

// part returns the part of a file that the page shows: of a long one, as many lines as MaxPreview
// holds, or those at the end.
func (g *get) part(view *page.File) (data []byte, err error) {
	if g.all {
		return g.data, nil
	}
	size, wanted := g.info.Size(), g.r.URL.Query().Get("part")
	last := page.PartsOf(size)
	n, _ := strconv.Atoi(wanted) // a wrong number is the first part
	view.Part = min(max(n, 1), last)
	from := int64(view.Part-1) * page.MaxPreview
	if wanted == "end" && last > 1 {
		view.End, view.Part, from = true, last, size-page.MaxPreview
	}
	err = g.p.view(g.r.Context(), func(rx *folio.Rx) error {
		file, err := rx.Open(g.real)
		if err != nil {
			return err
		}
		defer file.Close()
		to := from + page.MaxPreview
		if view.Part == last {
			to = size
		}
		data, err = readLines(file, from, to, size)
		return err
	})
	return data, err
}

// readLines reads the lines of a file that begin between two places.
func readLines(file io.ReaderAt, from, to, size int64) ([]byte, error) {
	for _, at := range []*int64{&from, &to} {
		if *at == 0 || *at == size {
			continue
		}
		ahead := make([]byte, min(page.MaxLine, size-*at))
		if _, err := file.ReadAt(ahead, *at-1); err != nil {
			return nil, err
		}
		if end := bytes.IndexByte(ahead, '\n'); end >= 0 {
			*at += int64(end) // behind the end of the line that was begun before
		}
	}
	data := make([]byte, to-from)
	_, err := file.ReadAt(data, from)
	return data, err
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
