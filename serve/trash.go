package serve

import (
	"context"
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
func (c *call) dispose(p *place, tx *folio.Tx, real string) (id string, err error) {
	if c.s.options.Trash <= 0 {
		return "", tx.RemoveAll(real)
	}
	note, err := json.Marshal(removal{[]byte(p.below(real)), c.user, time.Now().UTC()})
	if err != nil {
		return "", err
	}
	id = newID()
	to := p.tree.own(trashDir, id)
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
func (c *call) undo(target string) error {
	if c.r.Method != http.MethodPost {
		return errMethod
	}
	dir, id := path.Split("/" + target)
	p, err := c.find(dir)
	if err != nil {
		return err
	}
	defer p.release()
	if err := c.mustChange(p); err != nil {
		return err
	}
	if _, ok := idTime(id); !ok || p.name != "." {
		return errUndone
	}
	if err := c.update(p, func(tx *folio.Tx) error { return c.takeBack(p, tx, p.tree.own(trashDir, id)) }); err != nil {
		return err
	}
	c.created(false)
	return nil
}

// takeBack moves a file from the trash to where it was.
func (c *call) takeBack(p *place, tx *folio.Tx, trashed string) error {
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
	real, there, err := p.lookup(tx, string(note.Path), false, rightWrite)
	switch {
	case err != nil:
		return missingParent(err)
	case there != nil:
		return fs.ErrExist
	}
	if err := p.parentExists(tx, real); err != nil {
		return err
	}
	if err := tx.RemoveXattr(trashed, trashXattr); err != nil {
		return err
	}
	return tx.Rename(trashed, real)
}

// Times after which sweep removes what is left.
const (
	uploadKept = 7 * 24 * time.Hour // uploads that nobody goes on with
	sweepEvery = time.Hour
)

// sweepAll removes from time to time what nobody needs any more, until ctx is done.
func (s *Server) sweepAll(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		for _, t := range s.trees {
			if !t.ReadOnly {
				s.sweep(ctx, t)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// sweep removes old removed files, and old uploads that are not complete.
func (s *Server) sweep(ctx context.Context, t *tree) {
	o, err := t.acquire()
	if err != nil {
		return // requests say so
	}
	defer o.release()
	for dir, kept := range map[string]time.Duration{trashDir: s.options.Trash, uploadDir: uploadKept} {
		s.sweepDir(ctx, o, t.own(dir), kept)
	}
}

func (s *Server) sweepDir(ctx context.Context, o *opened, dir string, kept time.Duration) {
	list, err := o.ReadDir(dir)
	if err != nil {
		return // there is none
	}
	for _, e := range list {
		made, ok := idTime(e.Name()[:min(len(e.Name()), 33)])
		if !ok || time.Since(made) < kept || ctx.Err() != nil {
			continue
		}
		if err := o.RemoveAll(path.Join(dir, e.Name())); err != nil && s.options.Logger != nil {
			s.options.Logger.Warn("cannot remove an old file", "path", path.Join(dir, e.Name()), "error", err)
		}
	}
}
