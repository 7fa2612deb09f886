package serve

import (
	"io"
	"io/fs"
	"path"
	"strconv"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve/internal/page"
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

// entry describes a file in a directory. A symbolic link is shown as its target if the user may see
// the target.
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
			return e, true // the error is not for clients, either
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
