package serve

import (
	"errors"
	"io/fs"
	"net/http"
	"path"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve/internal/page"
)

// A get is a request to read a place, by GET or HEAD, with the file that one view has found there.
type get struct {
	*call
	p    *place
	real string // the path in the volume
	info fs.FileInfo
	data []byte // of a small file
	list []page.Entry
	all  bool // data holds the whole file
}

// lookAt reads the file that the request names.
func (g *get) lookAt() error {
	name, dir := g.p.name, g.p.dir
	return g.p.viewAt(g.r.Context(), !g.fresh(nil), func(rx *folio.Rx) (err error) {
		g.p.name, g.p.dir, g.data, g.list, g.all = name, dir, nil, nil, false
		if g.real, err = g.p.resolve(rx, g.p.name, true, rightRead); err != nil {
			return g.uploadOnly(rx, err)
		}
		if g.info, err = rx.Lstat(g.real); err != nil {
			return err
		}
		return g.readFound(rx)
	})
}

// uploadOnly lets those who may only upload into a directory see its page, without the entries.
// They see nothing of its past.
func (g *get) uploadOnly(rx *folio.Rx, denied error) (err error) {
	if query := g.r.URL.Query(); !errors.Is(denied, errDenied) || g.p.snapshot != "" || query.Has("versions") || query.Has("diff") {
		return denied
	}
	if g.real, err = g.p.resolve(rx, g.p.name, true, rightUpload); err != nil {
		return denied
	}
	if g.info, err = rx.Lstat(g.real); err != nil || !g.info.IsDir() {
		return denied
	}
	return nil
}

// readFound reads a small file, or a directory.
func (g *get) readFound(rx *folio.Rx) (err error) {
	switch {
	case g.info.IsDir():
		if g.s.options.Index && g.p.dir && g.index(rx) {
			return nil
		}
		g.list, err = g.p.entries(rx, g.real)
	case g.info.Mode().IsRegular() && g.info.Size() <= g.p.vol.whole && !g.fresh(g.info):
		g.all = true
		key := g.p.key(g.info)
		if data, ok := g.s.contents.get(key); ok {
			g.data = data
			return nil
		}
		if g.data, err = rx.ReadFile(g.real); err == nil {
			if len(g.data) <= smallFile {
				g.s.contents.put(key, g.data)
			}
		}
	}
	return err
}

func (p *place) key(info fs.FileInfo) contentKey {
	n := node(info)
	return contentKey{vol: p.vol.Volume, ino: n.Ino, mtime: n.Mtime, ctime: n.Ctime, size: n.Size, snapshot: p.snapshot}
}

// index puts index.html in the place of a directory that has one.
func (g *get) index(rx *folio.Rx) bool {
	real, err := g.p.resolve(rx, path.Join(g.p.name, "index.html"), true, rightRead)
	if err != nil {
		return false
	}
	info, err := rx.Lstat(real)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	g.real, g.info, g.p.name, g.p.dir = real, info, path.Join(g.p.name, "index.html"), false
	return true
}

// fresh reports whether the content need not be read: the client has it already, or asks only for
// the headers and the name tells the type. Before the file is found, info is nil.
func (g *get) fresh(info fs.FileInfo) bool {
	none := plainTag(g.r.Header.Get("If-None-Match"))
	return g.r.Method == http.MethodHead && isTypedName(g.p.name) || none != "" && (info == nil || none == g.p.etag(info))
}
