package serve

import (
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/foliofs/folio/serve/internal/page"
)

// A history is a request to read earlier versions of a place.
type history struct{ *get }

// versions answers with the earlier versions of a file or a directory.
func (h *history) versions() error {
	if h.p.share != nil {
		return errMethod
	}
	v := &page.Versions{Frame: h.frame(h.p), Writable: h.p.mustChange() == nil && h.p.access.least(h.p.shown(h.real)) >= rightWrite}
	v.IsDir = h.info.IsDir()
	var err error
	if v.IsDir {
		v.List, err = h.directoryVersions()
	} else {
		v.List, err = h.fileVersions()
	}
	if err != nil {
		return err
	}
	h.startPage(http.StatusOK)
	return h.s.pages.WriteVersions(h.w, v)
}

// at returns the URL of a path of the tree in a snapshot.
func (h *history) at(snapshot, name string, dir bool) string {
	then := &place{root: h.s.base + snapshotPath + url.PathEscape(snapshot) + h.p.tree.prefix}
	return then.href(name, dir)
}

// directoryVersions lists all snapshots, the newest first. It does not look whether the directory
// differs in them.
func (h *history) directoryVersions() (list []page.Version, err error) {
	all, err := h.p.vol.Snapshots(h.r.Context())
	for _, s := range slices.Backward(all) {
		list = append(list, page.Version{Snapshots: []string{s.Name}, Time: s.Time, Href: h.at(s.Name, h.p.name, true)})
	}
	return list, err
}

// fileVersions lists the versions of a file, except those from when it was in a directory that the
// user may not read. The current version leads to the file itself, an older one to a snapshot that
// has it.
func (h *history) fileVersions() (list []page.Version, err error) {
	all, err := h.p.vol.Versions(h.r.Context(), h.real)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	for _, v := range all {
		if !h.p.access.at(h.p.shown(v.Path)).allows(rightRead) || !within(h.p.within, v.Path) {
			continue // it was elsewhere then
		}
		one := page.Version{Time: v.Info.ModTime(), Size: v.Info.Size(), Href: h.p.href(h.p.name, false) + "?view"}
		for _, s := range slices.Backward(v.Snapshots) {
			one.Snapshots = append(one.Snapshots, s.Name)
		}
		if !v.Current && len(one.Snapshots) > 0 {
			one.Href = h.at(one.Snapshots[0], h.p.below(v.Path), false) + "?view"
		} else {
			one.Snapshots = nil
		}
		list = append(list, one)
	}
	return list, err
}
