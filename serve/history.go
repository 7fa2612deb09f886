package serve

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve/page"
)

// Earlier versions of files: their pages, and how they come back.

// maxChanges is how many names the comparison of a directory lists.
const maxChanges = 1000

// versions answers with the earlier versions of a file or a directory.
func (c *call) versions(p *place, f *found) error {
	if p.share != nil {
		return errMethod
	}
	v := &page.Versions{Frame: c.frame(p), Writable: c.mustChange(p) == nil && p.access.least(p.shown(f.real)) >= rightWrite}
	v.IsDir = f.info.IsDir()
	var err error
	if v.IsDir {
		v.List, err = c.directoryVersions(p)
	} else {
		v.List, err = c.fileVersions(p, f)
	}
	if err != nil {
		return err
	}
	c.startPage(http.StatusOK)
	return c.s.pages.WriteVersions(c.w, v)
}

// at returns the URL of a path of the tree in a snapshot.
func (c *call) at(p *place, snapshot, name string, dir bool) string {
	then := &place{root: c.s.base + snapshotPath + url.PathEscape(snapshot) + p.tree.prefix}
	return then.href(name, dir)
}

func (c *call) directoryVersions(p *place) (list []page.Version, err error) {
	all, err := p.vol.Snapshots(c.r.Context())
	for _, s := range slices.Backward(all) {
		list = append(list, page.Version{Snapshots: []string{s.Name}, Time: s.Time, Href: c.at(p, s.Name, p.name, true)})
	}
	return list, err
}

func (c *call) fileVersions(p *place, f *found) (list []page.Version, err error) {
	all, err := p.vol.Versions(c.r.Context(), f.real)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	for _, v := range all {
		if !p.access.at(p.shown(v.Path)).allows(rightRead) || !within(p.within, v.Path) {
			continue // it was elsewhere then
		}
		one := page.Version{Time: v.Info.ModTime(), Size: v.Info.Size(), Href: p.href(p.name, false) + "?view"}
		for _, s := range slices.Backward(v.Snapshots) {
			one.Snapshots = append(one.Snapshots, s.Name)
		}
		if !v.Current && len(one.Snapshots) > 0 {
			one.Href = c.at(p, one.Snapshots[0], p.below(v.Path), false) + "?view"
		} else {
			one.Snapshots = nil
		}
		list = append(list, one)
	}
	return list, err
}

// within reports whether a path of the volume lies in a directory.
func within(dir, p string) bool { return dir == "." || covers(dir, p) }

// difference answers with what has changed since a snapshot.
func (c *call) difference(p *place, f *found) error {
	if p.share != nil || p.snapshot != "" {
		return errMethod
	}
	q := c.r.URL.Query()
	d := &page.Difference{Frame: c.frame(p), From: q.Get("diff"), To: q.Get("to")}
	d.IsDir = f.info.IsDir()
	d.Writable = c.mustChange(p) == nil && p.access.least(p.shown(f.real)) >= rightWrite
	var err error
	if d.IsDir {
		d.Changes, err = c.changes(p, f, d.From, d.To)
	} else {
		err = c.sides(p, d)
	}
	if err != nil {
		return err
	}
	c.startPage(http.StatusOK)
	return c.s.pages.WriteDifference(c.w, d)
}

// sides reads both contents of a file. One that is not there is empty.
func (c *call) sides(p *place, d *page.Difference) error {
	for _, side := range []struct {
		snapshot string
		text     *[]byte
	}{{d.From, &d.Old}, {d.To, &d.New}} {
		then := *p
		then.snapshot = side.snapshot
		err := then.view(c.r.Context(), func(rx *folio.Rx) error {
			real, info, err := then.lookup(rx, then.name, true, rightRead)
			if err != nil || info == nil || !info.Mode().IsRegular() {
				return err
			}
			if info.Size() > page.MaxDiff {
				d.TooLarge = true
				return nil
			}
			*side.text, err = rx.ReadFile(real)
			return err
		})
		if err != nil && (!isMissing(err) || errors.Is(err, folio.ErrNoSnapshot)) {
			return err
		}
	}
	return nil
}

// kinds has the words of pages for changes.
func kindOf(k folio.ChangeKind) string {
	switch {
	case k&folio.Made != 0:
		return "new"
	case k&folio.Removed != 0:
		return "removed"
	case k&folio.ContentChanged != 0:
		return "changed"
	case k&folio.Moved != 0:
		return "moved"
	}
	return "attributes"
}

func (c *call) changes(p *place, f *found, from, to string) (list []page.Changed, err error) {
	for change, err := range p.vol.Diff(c.r.Context(), from, to) {
		if err != nil {
			return nil, err
		}
		if !within(f.real, change.Path) || strings.Contains("/"+change.Path+"/", "/"+private+"/") || !p.access.at(p.shown(change.Path)).allows(rightRead) {
			continue
		}
		one := page.Changed{What: kindOf(change.Kind), Path: p.below(change.Path)}
		if change.OldPath != "" && within(p.within, change.OldPath) && p.access.at(p.shown(change.OldPath)).allows(rightRead) {
			one.OldPath = p.below(change.OldPath)
		}
		if list = append(list, one); len(list) >= maxChanges {
			break
		}
	}
	return list, nil
}

// restore answers the form that puts a file or a directory back as a snapshot has it.
func (c *call) restore() error {
	if c.r.Method != http.MethodPost {
		return errMethod
	}
	c.r.Body = http.MaxBytesReader(c.w, c.r.Body, maxShareBody)
	if err := c.r.ParseForm(); err != nil {
		return refuse(http.StatusBadRequest, "The form cannot be read.")
	}
	snapshot := c.r.PostForm.Get("snapshot")
	p, err := c.findIn(c.r.PostForm.Get("root"), c.r.PostForm.Get("path"))
	if err != nil {
		return err
	}
	defer p.release()
	if err := c.mustChange(p); err != nil {
		return err
	}
	dir, err := c.restorable(p, snapshot)
	if err != nil {
		return err
	}
	if _, err := p.vol.Restore(c.r.Context(), snapshot, path.Join(p.within, p.name), nil); err != nil {
		return err
	}
	to := p.href(p.name, dir)
	if !dir {
		to += "?view"
	}
	c.redirect(to)
	return nil
}

var errRestoreRoot = refuse(http.StatusForbidden, "The whole tree is not restored here, as it holds the trash and the uploads. Restore a directory in it, or use folio restore.")

// restorable checks that a path can be restored: by a name that leads through no symbolic link, now
// and in the snapshot, to where the user may write all.
func (c *call) restorable(p *place, snapshot string) (dir bool, err error) {
	if p.name == "." {
		return false, errRestoreRoot
	}
	if snapshot == "" {
		return false, folio.ErrNoSnapshot
	}
	if err := c.mustBeFree(p, p.name); err != nil {
		return false, err
	}
	plain := path.Join(p.within, p.name)
	for _, at := range []string{snapshot, ""} {
		then := *p
		then.snapshot = at
		err := then.view(c.r.Context(), func(rx *folio.Rx) error {
			real, info, err := then.lookup(rx, then.name, false, rightWrite)
			if err != nil && at == "" && isMissing(err) {
				return nil // the directories that lead to it come back, too
			}
			if err != nil {
				return err
			}
			if real != plain || at != "" && info == nil {
				return errNoDir
			}
			if at != "" {
				dir = info.IsDir()
			}
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	if !p.access.least(p.shown(plain)).allows(rightWrite) {
		return false, errDenied
	}
	return dir, nil
}
