package serve

import (
	"context"
	"net/http"
	"path"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve/internal/page"
)

// emptyTrash removes for good all files that the user could restore. A reader is asked first. The
// form of the page names the newest removal that it shows, so that nothing goes which the reader
// has not seen.
func emptyTrash(c *call) error {
	if c.user == "" && c.who.users != nil {
		return errDenied
	}
	ask := &page.Question{
		Heading: "Empty the trash?", Text: "What you could restore is removed for good. It cannot be taken back.",
		Action: c.s.base + trashPath + "/empty", Button: "Remove for good", Back: c.s.base + trashPath,
	}
	if asked, err := c.confirm(ask); asked {
		return err
	}
	until, removed := "", 0
	if c.r.Method == http.MethodPost {
		c.r.Body = http.MaxBytesReader(c.w, c.r.Body, maxShareBody)
		until = c.r.PostFormValue("until")
	}
	for _, t := range c.s.trees {
		if t.ReadOnly {
			continue
		}
		n, err := c.emptyTrashOf(t, until)
		if err != nil {
			return err
		}
		removed += n
	}
	c.w.Header().Set("Cache-Control", "no-store")
	if c.wantsPage() {
		c.redirect(c.s.base + trashPath)
		return nil
	}
	return c.writeJSON(map[string]int{"removed": removed})
}

// emptyTrashOf empties the trash of one tree, with a transaction for each file, so that other
// requests can write in between. It returns how many files it removed.
func (c *call) emptyTrashOf(t *tree, until string) (removed int, err error) {
	o, err := t.acquire()
	if err != nil {
		return 0, err
	}
	defer o.release()
	list, err := o.ReadDir(t.own(trashDir))
	if err != nil && !isMissing(err) {
		return 0, err
	}
	for _, e := range list {
		if _, ok := idTime(e.Name()); !ok || until != "" && e.Name() > until {
			continue
		}
		n := 0
		err := o.Update(context.WithoutCancel(c.r.Context()), func(tx *folio.Tx) (err error) {
			n, err = c.removeForGood(tx, t, t.own(trashDir, e.Name()))
			return err
		})
		if err != nil && !isMissing(err) { // restored meanwhile
			return removed, err
		}
		removed += n
	}
	return removed, nil
}

// removeForGood removes a file of the trash if the user could restore it, and of several those.
func (c *call) removeForGood(tx *folio.Tx, t *tree, trashed string) (removed int, err error) {
	var note removal
	if err := note.read(&tx.Rx, trashed); err != nil {
		return 0, err
	}
	if !note.Several {
		if !note.mayRestore(c.access(), t) {
			return 0, nil
		}
		return 1, tx.RemoveAll(trashed)
	}
	list, err := tx.ReadDir(trashed)
	if err != nil {
		return 0, err
	}
	for _, e := range list {
		n, err := c.removeForGood(tx, t, path.Join(trashed, e.Name()))
		if err != nil {
			return 0, err
		}
		removed += n
	}
	if removed == len(list) {
		err = tx.Remove(trashed)
	}
	return removed, err
}
