package serve

import (
	"fmt"
	"net/http"
	"path"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve/internal/page"
)

// restore answers the form that puts a file or a directory back as a snapshot has it.
func restore(c *call) error {
	if c.r.Method != http.MethodPost {
		return errMethod
	}
	c.r.Body = http.MaxBytesReader(c.w, c.r.Body, maxShareBody)
	if err := c.r.ParseForm(); err != nil {
		return errForm
	}
	snapshot := c.r.PostForm.Get("snapshot")
	p, err := c.findIn(c.r.PostForm.Get("root"), c.r.PostForm.Get("path"))
	if err != nil {
		return err
	}
	defer p.release()
	if err := p.mustChange(); err != nil {
		return err
	}
	defer p.vol.dav.Reserve(path.Join(p.within, p.name))() // the transaction is not ours
	dir, err := (&change{call: c, p: p}).restorable(snapshot)
	if err != nil {
		return err
	}
	if asked, err := c.confirm(restoreQuestion(p, snapshot, dir)); asked {
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

// restoreQuestion asks before a restored file replaces an existing one.
func restoreQuestion(p *place, snapshot string, dir bool) *page.Question {
	q := &page.Question{
		Heading: "Put this back as it was?", Text: fmt.Sprintf("It becomes what it was in %s. What it is now is lost.", snapshot),
		Items: []string{p.name}, Action: p.tree.base + restorePath, Button: "Restore", Back: p.href(p.name, dir) + "?versions",
	}
	if dir {
		q.Text = fmt.Sprintf("It becomes what it was in %s. What it is now is lost, with files that were not in it then.", snapshot)
	}
	return q
}

var errRestoreRoot = refuse(http.StatusForbidden, "The whole tree is not restored here, as it holds the trash and the uploads. Restore a directory in it, or use folio restore.")

// restorable checks that a path can be restored: by a name that leads through no symbolic link, now
// and in the snapshot, to where the user may write all.
func (c *change) restorable(snapshot string) (dir bool, err error) {
	if c.p.name == "." {
		return false, errRestoreRoot
	}
	if snapshot == "" {
		return false, folio.ErrNoSnapshot
	}
	plain := path.Join(c.p.within, c.p.name)
	for _, at := range []string{snapshot, ""} {
		then := *c.p
		then.snapshot = at
		err := then.view(c.r.Context(), func(rx *folio.Rx) error {
			real, info, err := then.lookup(rx, then.name, false, rightWrite)
			if err != nil && at == "" && isMissing(err) {
				return c.mayMake(rx, nil) // the directories that lead to it come back, too
			}
			if err != nil {
				return err
			}
			if real != plain || at != "" && info == nil {
				return errNoDir
			}
			if at != "" {
				dir = info.IsDir()
				return nil
			}
			return c.mustBeFree(rx, plain, true)
		})
		if err != nil {
			return false, err
		}
	}
	if !c.p.access.least(c.p.shown(plain)).allows(rightWrite) {
		return false, errDenied
	}
	return dir, nil
}
