package serve

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"path"
	"time"

	"github.com/foliofs/folio"
)

// trashXattr is the extended attribute of a removed file that says where it was.
const trashXattr = "user.folio.trash"

// A removal is what the trash knows of a removed file.
type removal struct {
	Path []byte    `json:"path"` // in the tree; its bytes need not be UTF-8
	User string    `json:"user,omitempty"`
	Time time.Time `json:"time"`
}

// dispose moves a file to the trash, and returns its name there. Without a trash it removes it.
func (c *change) dispose(tx *folio.Tx, real string) (id string, err error) {
	if c.s.options.Trash <= 0 {
		return "", tx.RemoveAll(real)
	}
	note, err := json.Marshal(removal{[]byte(c.p.below(real)), c.user, time.Now().UTC()})
	if err != nil {
		return "", err
	}
	id = newID()
	to := c.p.tree.own(trashDir, id)
	if err := tx.MkdirAll(path.Dir(to), 0o700); err != nil {
		return "", err
	}
	if err := tx.SetXattr(real, trashXattr, note); err != nil {
		return "", err
	}
	return id, tx.Rename(real, to)
}

var errUndone = refuse(http.StatusGone, "This is no longer in the trash.")

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
	if _, ok := idTime(id); !ok || p.name != "." {
		return errUndone
	}
	ch := &change{c, p}
	if err := ch.update(func(tx *folio.Tx) error { return ch.takeBack(tx, p.tree.own(trashDir, id)) }); err != nil {
		return err
	}
	ch.created(false)
	return nil
}

// takeBack moves a file from the trash to where it was.
func (c *change) takeBack(tx *folio.Tx, trashed string) error {
	xattrs, err := tx.Xattrs(trashed)
	if isMissing(err) {
		return errUndone
	}
	var note removal
	if err == nil {
		err = json.Unmarshal(xattrs[trashXattr], &note)
	}
	if err != nil {
		return err
	}
	real, there, err := c.p.lookup(tx, string(note.Path), false, rightWrite)
	switch {
	case err != nil:
		return missingParent(err)
	case there != nil:
		return fs.ErrExist
	}
	if err := c.p.parentExists(tx, real); err != nil {
		return err
	}
	if err := tx.RemoveXattr(trashed, trashXattr); err != nil {
		return err
	}
	return tx.Rename(trashed, real)
}
