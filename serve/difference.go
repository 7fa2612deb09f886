package serve

import (
	"errors"
	"net/http"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve/internal/page"
)

// maxChanges is how many names the comparison of a directory lists.
const maxChanges = 1000

// difference answers with the changes since a snapshot.
func (h *history) difference() error {
	if h.p.share != nil || h.p.snapshot != "" {
		return errMethod
	}
	q := h.r.URL.Query()
	d := &page.Difference{Frame: h.frame(h.p), From: q.Get("diff"), To: q.Get("to")}
	d.IsDir = h.info.IsDir()
	d.Writable = h.p.mustChange() == nil && h.p.access.least(h.p.shown(h.real)) >= rightWrite
	var err error
	if d.IsDir {
		d.Changes, err = h.changes(d.From, d.To)
	} else {
		err = h.sides(d)
	}
	if err != nil {
		return err
	}
	h.startPage(http.StatusOK)
	return h.s.pages.WriteDifference(h.w, d)
}

// sides reads both contents of a file. One that is not there is empty.
func (h *history) sides(d *page.Difference) error {
	for _, side := range []struct {
		snapshot string
		text     *[]byte
	}{{d.From, &d.Old}, {d.To, &d.New}} {
		then := *h.p
		then.snapshot = side.snapshot
		err := then.view(h.r.Context(), func(rx *folio.Rx) error {
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

// kindOf returns the word that pages have for a change.
func kindOf(k folio.ChangeKind) string {
	switch {
	case k&folio.ChangeMade != 0:
		return "new"
	case k&folio.ChangeRemoved != 0:
		return "removed"
	case k&folio.ChangeContent != 0:
		return "changed"
	case k&folio.ChangeMoved != 0:
		return "moved"
	}
	return "attributes"
}

// changes lists what differs between two states of a directory, except files that the user may not
// read. A file that was moved from such a place shows no old path.
func (h *history) changes(from, to string) (list []page.Changed, err error) {
	for change, err := range h.p.vol.Diff(h.r.Context(), from, to) {
		if err != nil {
			return nil, err
		}
		if !within(h.real, change.Path) || strings.Contains("/"+change.Path+"/", "/"+private+"/") || !h.p.access.at(h.p.shown(change.Path)).allows(rightRead) {
			continue
		}
		one := page.Changed{What: kindOf(change.Kind), Path: h.p.below(change.Path)}
		if change.OldPath != "" && within(h.p.within, change.OldPath) && h.p.access.at(h.p.shown(change.OldPath)).allows(rightRead) {
			one.OldPath = h.p.below(change.OldPath)
		}
		if list = addChange(list, one); len(list) >= maxChanges {
			break
		}
	}
	return list, nil
}

// addChange adds a change to a list. A file that was removed, and another one that got its name,
// are one change.
func addChange(list []page.Changed, one page.Changed) []page.Changed {
	for i := range list {
		if what := [2]string{list[i].What, one.What}; list[i].Path == one.Path &&
			(what == [2]string{"new", "removed"} || what == [2]string{"removed", "new"}) {
			list[i].What = "changed"
			return list
		}
	}
	return append(list, one)
}
