package dav

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"path"

	"golang.org/x/net/webdav"
)

// ServeList answers PROPFIND for a directory that is in no volume. For example, a server of several
// volumes shows them as the directories in its root. prefix is the URL of the directory, without a
// slash at the end.
func ServeList(w http.ResponseWriter, r *http.Request, prefix string, dirs []fs.FileInfo) {
	h := &Handler{prefix: prefix}
	h.dav = webdav.Handler{Prefix: prefix, FileSystem: dirList(dirs), LockSystem: granted{}}
	if _, ok := h.readXML(w, r, maxNames); !ok {
		return
	}
	if depth := r.Header.Get("Depth"); depth != "0" && depth != "1" {
		h.refuse(w, r, http.StatusForbidden, errFiniteDepth)
		return
	}
	h.upstream(w, r)
}

// A dirList is a webdav.FileSystem of a directory with directories in it, which cannot be changed.
type dirList []fs.FileInfo

func (dirList) Mkdir(context.Context, string, fs.FileMode) error { return fs.ErrPermission }

func (dirList) RemoveAll(context.Context, string) error { return fs.ErrPermission }

func (dirList) Rename(context.Context, string, string) error { return fs.ErrPermission }

// A topDir is the directory itself. It is as old as the newest in it.
type topDir struct{ fs.FileInfo }

func (topDir) Name() string { return "/" }

// Stat describes one of the directories, or the root, which has the time of the newest of them.
func (l dirList) Stat(_ context.Context, name string) (fs.FileInfo, error) {
	if name = clean(name); name == "/" {
		newest := l[0]
		for _, dir := range l {
			if dir.ModTime().After(newest.ModTime()) {
				newest = dir
			}
		}
		return topDir{newest}, nil
	}
	for _, dir := range l {
		if path.Join("/", dir.Name()) == name {
			return dir, nil
		}
	}
	return nil, fs.ErrNotExist
}

func (l dirList) OpenFile(ctx context.Context, name string, _ int, _ fs.FileMode) (webdav.File, error) {
	info, err := l.Stat(ctx, name)
	if err != nil {
		return nil, err
	}
	f := &listedDir{info: info}
	if clean(name) == "/" {
		f.entries = l
	}
	return f, nil
}

// A listedDir is an open directory of a dirList.
type listedDir struct {
	info    fs.FileInfo
	entries []fs.FileInfo
}

func (d *listedDir) Stat() (fs.FileInfo, error) { return d.info, nil }

func (d *listedDir) Readdir(int) ([]fs.FileInfo, error) { return d.entries, nil }

func (*listedDir) Read([]byte) (int, error) { return 0, io.EOF }

func (*listedDir) Seek(int64, int) (int64, error) { return 0, fs.ErrInvalid }

func (*listedDir) Write([]byte) (int, error) { return 0, fs.ErrPermission }

func (*listedDir) Close() error { return nil }
