package serve

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/foliofs/folio"
)

// findShare returns the target of a link as a place.
func (c *call) findShare(p *place, target string) (*place, error) {
	token, rest, _ := strings.Cut(target, "/")
	p.root = c.s.base + sharePath + url.PathEscape(token)
	return c.findRecord(p, recordName(token), rest)
}

// findRecord returns the target of the link with a record, or a path below it, as a place.
func (c *call) findRecord(p *place, record, rest string) (*place, error) {
	for _, t := range c.s.trees {
		o, err := t.acquire()
		if err != nil {
			return nil, err
		}
		err = o.View(c.r.Context(), func(rx *folio.Rx) error { return c.openShare(p, rx, t, record) })
		if err == nil && p.share.Snapshot != "" && c.snapshotID(o, p.share.Snapshot) != p.share.SnapshotID {
			err = errGone
		}
		if err == nil {
			p.tree, p.vol = t, o
			if rest = strings.Trim(rest, "/"); rest != "" && (p.single == "" || rest == p.single) {
				p.name = rest // a file that has another name now is found under that
			}
			return p, nil
		}
		o.release()
		if !isMissing(err) {
			return nil, err
		}
	}
	return nil, fs.ErrNotExist
}

// snapshotID returns the ID of a snapshot, and 0 if there is none.
func (c *call) snapshotID(o *opened, name string) int64 {
	list, _ := o.Snapshots(c.r.Context()) // an error means that it cannot be shown
	for _, s := range list {
		if s.Name == name {
			return s.ID
		}
	}
	return 0
}

// openShare reads the record of a share, and finds its inode.
func (c *call) openShare(p *place, rx *folio.Rx, t *tree, record string) error {
	s := &share{record: t.own(shareDir, record)}
	err := s.read(rx)
	if err != nil {
		return err
	}
	if !s.Expires.IsZero() && time.Now().After(s.Expires) {
		return errGone
	}
	if s.Snapshot != "" {
		if rx, err = rx.At(s.Snapshot); errors.Is(err, folio.ErrNoSnapshot) {
			return errGone
		} else if err != nil {
			return err
		}
	}
	real, info, err := s.locate(c.r.Context(), rx, t)
	if err != nil {
		return err
	}
	p.share, p.snapshot = s, s.Snapshot
	if p.access = c.linkAccess(s, t.shown(real)); p.access == nil {
		return errGone
	}
	if p.within = real; !info.IsDir() {
		p.within, p.single = path.Dir(real), path.Base(real)
	}
	return nil
}

// linkAccess returns the rights of a link to a path, or nil if the user who made it is gone. Where
// no user can log in any more, those who made links have the rights of all.
func (c *call) linkAccess(link *share, shown string) *access {
	user := link.User
	switch users := c.who.users; {
	case users == nil:
		user = ""
	case user != "" && !users.has(user):
		return nil
	}
	a := c.accessOf(user)
	a.link = &linkAccess{within: strings.TrimSuffix(shown, "/"), gives: rightRead}
	if link.Upload {
		a.link.gives = rightUpload
	}
	return a
}

// locate finds the inode of a share: at its last name, or by a walk.
func (s *share) locate(ctx context.Context, rx *folio.Rx, t *tree) (real string, info fs.FileInfo, err error) {
	if info, ok := s.atLast(rx); ok {
		return string(s.Path), info, nil
	}
	found, err := t.findInodes(ctx, rx, map[uint64]bool{s.Ino: true})
	if err != nil {
		return "", nil, err
	}
	w := found[s.Ino]
	if w == nil {
		return "", nil, errGone
	}
	return w.real, w.info, nil
}

// atLast reports whether the inode of a share still has its last name.
func (s *share) atLast(rx *folio.Rx) (fs.FileInfo, bool) {
	info, err := rx.Lstat(string(s.Path))
	return info, err == nil && node(info).Ino == s.Ino
}

var errAllFound = errors.New("all are found")

// findInodes walks through a tree until it has met each of the inodes, or maxLocate files. It
// returns the inodes that it has met.
func (t *tree) findInodes(ctx context.Context, rx *folio.Rx, wanted map[uint64]bool) (map[uint64]*walked, error) {
	found, n := make(map[uint64]*walked), 0
	all := &place{tree: t, within: t.Dir, access: &access{most: rightRead}}
	err := all.walk(ctx, rx, t.Dir, func(w *walked) error {
		if n++; n > maxLocate || len(found) == len(wanted) {
			return errAllFound
		}
		if ino := node(w.info).Ino; wanted[ino] && found[ino] == nil {
			found[ino] = w
		}
		return nil
	})
	if err == errAllFound {
		err = nil
	}
	return found, err
}
