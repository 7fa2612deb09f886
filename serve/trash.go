package serve

import (
	"encoding/json"
	"net/http"
	"path"
	"strconv"
	"time"

	"github.com/foliofs/folio"
)

// trashXattr is the extended attribute of a removed file that says where it was.
const trashXattr = "user.folio.trash"

// A removal is the trash's record of a removed file.
type removal struct {
	Path    []byte    `json:"path"` // in the tree; its bytes need not be UTF-8
	User    string    `json:"user,omitempty"`
	Time    time.Time `json:"time"`
	Several bool      `json:"several,omitempty"` // it is a directory of the trash, with several removals
}

// dispose moves files to the trash, and returns the name by which undo finds them. Several are put
// into a directory of the trash. Without a trash it removes them.
func (c *change) dispose(tx *folio.Tx, files ...string) (id string, err error) {
	if c.s.options.Trash <= 0 {
		for _, real := range files {
			if err := tx.RemoveAll(real); err != nil {
				return "", err
			}
		}
		return "", nil
	}
	id = newID()
	to := c.p.tree.own(trashDir, id)
	if len(files) == 1 {
		if err := tx.MkdirAll(path.Dir(to), 0o700); err != nil {
			return "", err
		}
		return id, c.trash(tx, files[0], to)
	}
	if err := tx.MkdirAll(to, 0o700); err != nil {
		return "", err
	}
	if err := (&removal{User: c.user, Time: time.Now().UTC(), Several: true}).save(tx, to); err != nil {
		return "", err
	}
	for i, real := range files {
		if err := c.trash(tx, real, path.Join(to, strconv.Itoa(i))); err != nil {
			return "", err
		}
	}
	return id, nil
}

// trash moves a file to a path in the trash.
func (c *change) trash(tx *folio.Tx, real, to string) error {
	note := removal{Path: []byte(c.p.below(real)), User: c.user, Time: time.Now().UTC()}
	if err := note.save(tx, real); err != nil {
		return err
	}
	return tx.Rename(real, to)
}

func (r *removal) save(tx *folio.Tx, real string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return tx.SetXattr(real, trashXattr, text)
}

var (
	errUndone   = refuse(http.StatusGone, "This is no longer in the trash.")
	errOccupied = refuse(http.StatusConflict, "There is another file by this name now. Rename or move it, and restore again.")
)

// undo answers POST to the URL that a removal has returned.
func undo(c *call, target string) error {
	if c.r.Method != http.MethodPost {
		return errMethod
	}
	dir, id := path.Split("/" + target)
	p, err := c.find(dir)
	if err != nil {
		return err
	}
	defer p.release()
	if err := p.mustChange(); err != nil {
		return err
	}
	c.r.Body = http.MaxBytesReader(c.w, c.r.Body, maxShareBody)
	if _, ok := idTime(id); !ok || p.name != "." {
		return errUndone
	}
	ch := &change{call: c, p: p}
	if err := ch.update(func(tx *folio.Tx) error { return ch.takeBack(tx, p.tree.own(trashDir, id)) }); err != nil {
		return err
	}
	if next := c.r.PostFormValue("next"); next != "" {
		c.redirect(c.localTarget(next))
		return nil
	}
	ch.created(false)
	return nil
}

// takeBack moves a file from the trash to where it was.
func (c *change) takeBack(tx *folio.Tx, trashed string) error {
	var note removal
	switch err := note.read(&tx.Rx, trashed); {
	case isMissing(err):
		return errUndone
	case err != nil:
		return err
	case note.Several:
		return c.takeAllBack(tx, trashed)
	}
	to := *c.p
	to.name = string(note.Path)
	real, there, err := to.lookup(tx, to.name, false, rightWrite)
	if isMissing(err) && to.access.check(to.shown(path.Join(to.within, to.name)), rightWrite) == nil { // its folder was removed, too
		if err := (&change{call: c.call, p: &to}).makeParents(tx); err != nil {
			return err
		}
		real, there, err = to.lookup(tx, to.name, false, rightWrite)
	}
	switch {
	case err != nil:
		return missingParent(err)
	case there != nil:
		return errOccupied
	case !to.access.least(to.shown(real)).allows(rightWrite):
		return errDenied
	}
	if err := c.mustBeFree(tx, real, true); err != nil {
		return err
	}
	if err := tx.RemoveXattr(trashed, trashXattr); err != nil {
		return err
	}
	return tx.Rename(trashed, real)
}

// takeAllBack restores the files in a directory of the trash, except files that the user may not
// restore.
func (c *change) takeAllBack(tx *folio.Tx, dir string) error {
	list, err := tx.ReadDir(dir)
	if err != nil {
		return err
	}
	left := 0
	for _, e := range list {
		name := path.Join(dir, e.Name())
		var note removal
		if err := note.read(&tx.Rx, name); err != nil {
			return err
		}
		if !note.mayRestore(c.access(), c.p.tree) {
			left++
			continue
		}
		if err := c.takeBack(tx, name); err != nil {
			return err
		}
	}
	switch left {
	case 0:
		return tx.Remove(dir)
	case len(list):
		return errDenied
	}
	return nil
}

// mayRestore reports whether a user may write all that a removed file would be.
func (r *removal) mayRestore(a *access, t *tree) bool { return a.least(r.shown(t)).allows(rightWrite) }

// shown returns where a removed file was, as URLs have it behind the base.
func (r *removal) shown(t *tree) string { return t.shown(path.Join(t.Dir, string(r.Path))) }

// read reads the trash's record of a removed file.
func (r *removal) read(rx *folio.Rx, real string) error {
	xattrs, err := rx.Xattrs(real)
	if err != nil {
		return err
	}
	return json.Unmarshal(xattrs[trashXattr], r)
}
