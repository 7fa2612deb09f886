package serve

import (
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

// Limits of one page of the trash.
const (
	trashShown  = 200
	trashLooked = 5000 // removed files that are looked at; other users' files are passed over
	trashNames  = 3    // of several files that were removed at once
)

// A trashed file is one that the trash lists, or several that were removed at once.
type trashed struct {
	tree  *tree
	id    string
	note  removal
	paths []string // where they were, as URLs have it behind the base; not all of many
	count int      // of removals that the user could restore
	seen  int      // of all
	info  fs.FileInfo
}

// answerTrash answers with the removed files that the user could restore, the newest first.
func answerTrash(c *call, rest string) error {
	empties := rest == "" && c.r.Method == http.MethodDelete || rest == "/empty" && c.r.Method == http.MethodPost
	if !empties && (rest != "" || c.r.Method != http.MethodGet && c.r.Method != http.MethodHead) {
		return errMethod
	}
	if !slices.ContainsFunc(c.s.trees, func(t *tree) bool { return !t.ReadOnly }) {
		return errServedRead
	}
	if empties {
		return emptyTrash(c)
	}
	list, older, err := c.trashed(c.r.URL.Query().Get("before"))
	switch {
	case err != nil:
		return err
	case len(list) == 0 && c.user == "" && c.who.users != nil:
		return errDenied
	}
	c.w.Header().Set("Cache-Control", "no-store")
	if older != "" {
		older = c.s.base + trashPath + "?before=" + url.QueryEscape(older)
	}
	if c.wantsJSON() {
		return c.writeJSON(map[string]any{"removed": c.trashJSON(list), "next": older})
	}
	p := &page.Trash{Frame: c.frame(&place{root: c.s.base, name: "."}), Kept: c.s.options.Trash, Older: older}
	if len(list) > 0 {
		p.Newest = list[0].id
	}
	for i := range list {
		t := &list[i]
		one := page.Removed{Restore: t.tree.undoHref(t.id), Count: t.count, Time: t.note.Time, User: t.note.User, IsDir: t.info.IsDir(), Size: t.info.Size()}
		for _, shown := range t.paths {
			one.Paths = append(one.Paths, strings.Trim(shown, "/"))
		}
		p.List = append(p.List, one)
	}
	c.startPage(http.StatusOK)
	return c.s.pages.WriteTrash(c.w, p)
}

// A removedJSON is a removal as JSON has it.
type removedJSON struct {
	Paths []string  `json:"paths"`
	Count int       `json:"count"`
	User  string    `json:"user,omitempty"`
	Time  time.Time `json:"time"`
	Undo  string    `json:"undo"` // POST to it restores them
}

func (c *call) trashJSON(list []trashed) []removedJSON {
	all := make([]removedJSON, len(list))
	for i := range list {
		t := &list[i]
		all[i] = removedJSON{Paths: t.paths, Count: t.count, User: t.note.User, Time: t.note.Time, Undo: t.tree.undoHref(t.id)}
	}
	return all
}

// trashed returns one page of the trash: the removals before an ID that the user could restore.
// older is the ID that the next page begins with, or "".
func (c *call) trashed(before string) (list []trashed, older string, err error) {
	var all []trashed
	for _, t := range c.s.trees {
		if t.ReadOnly {
			continue
		}
		o, err := t.acquire()
		if err != nil {
			return nil, "", err
		}
		defer o.release()
		entries, err := o.ReadDir(t.own(trashDir))
		if err != nil && !isMissing(err) {
			return nil, "", err
		}
		for _, e := range entries {
			if _, ok := idTime(e.Name()); ok && (before == "" || e.Name() < before) {
				all = append(all, trashed{tree: t, id: e.Name()})
			}
		}
	}
	slices.SortFunc(all, func(a, b trashed) int { return strings.Compare(b.id, a.id) })
	seen := 0
	for i := range all {
		if len(list) == trashShown || seen >= trashLooked {
			return list, all[i-1].id, nil
		}
		if all[i].look(c) {
			list = append(list, all[i])
		}
		seen += max(1, all[i].seen)
	}
	return list, "", nil
}

// look reads the file of a removal. It reports whether the user could restore it.
func (t *trashed) look(c *call) bool {
	o, err := t.tree.acquire()
	if err != nil {
		return false
	}
	defer o.release()
	_ = o.View(c.r.Context(), func(rx *folio.Rx) error { // a file that is gone meanwhile is not listed
		real := t.tree.own(trashDir, t.id)
		if err := t.note.read(rx, real); err != nil {
			return err
		}
		var err error
		if t.info, err = rx.Lstat(real); err != nil {
			return err
		}
		if !t.note.Several {
			t.add(c.access(), &t.note)
			return nil
		}
		list, err := rx.ReadDir(real)
		for _, e := range list {
			var note removal
			if err := note.read(rx, path.Join(real, e.Name())); err != nil {
				return err
			}
			t.add(c.access(), &note)
		}
		return err
	})
	return t.count > 0
}

// add counts a removed file, and adds its path, if the user could restore it.
func (t *trashed) add(a *access, note *removal) {
	t.seen++
	if !note.mayRestore(a, t.tree) {
		return
	}
	if t.count++; len(t.paths) < trashNames {
		t.paths = append(t.paths, note.shown(t.tree))
	}
}
