package repair

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/history"
	"github.com/foliofs/folio/internal/store/native/rowstore"
)

// A snapshotChecker looks at the inodes of a snapshot that differ from the live ones, with their
// names: K1 to K5 of package check hold for what the snapshot sees. What does not differ was looked
// at.
type snapshotChecker struct {
	*checker
	name string
	rx   *history.Rx
	d    *store.Differences
}

// pasts looks at all snapshots.
func (c *checker) pasts(rows []history.SnapshotRow) error {
	for _, row := range rows {
		if row.Name == "" {
			continue
		}
		p := &snapshotChecker{checker: c, name: row.Name, rx: &history.Rx{Rx: rowstore.Rx{Engine: c.tx}, ID: row.ID, Next: row.Next}}
		live := &history.Rx{Rx: rowstore.Rx{Engine: c.tx}, ID: history.Live, Next: store.MaxIno + 1}
		var err error
		p.d, err = history.CompareStates(c.ctx, c.tx, p.rx, live)
		if errors.Is(err, store.ErrDamaged) {
			c.report.Add(store.Problem{What: fmt.Sprintf("snapshot %s: %v", row.Name, err)})
			continue
		}
		if err != nil {
			return c.unreadable("entry_was", err)
		}
		for _, ino := range p.d.Nodes {
			if err := c.alive(); err != nil {
				return err
			}
			if err := p.inode(ino); err != nil {
				p.odd(ino, "%v", err)
			}
		}
	}
	return nil
}

func (p *snapshotChecker) odd(ino store.Ino, format string, args ...any) {
	p.report.Add(store.Problem{What: fmt.Sprintf("snapshot %s: inode %d ", p.name, ino) + fmt.Sprintf(format, args...)})
}

// inode looks at one inode.
func (p *snapshotChecker) inode(ino store.Ino) error {
	names, err := p.names(ino)
	if err != nil {
		return err
	}
	var n store.Node
	switch err := p.rx.ReadNode(ino, &n); {
	case errors.Is(err, fs.ErrNotExist) && len(names) > 0:
		p.odd(ino, "has a name, and does not exist")
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	links := len(names)
	if store.TypeOf(n.Mode) == store.Dir {
		if want := min(1, int(ino)-1); links != want {
			p.odd(ino, "is a directory with %d names", links)
		}
		if links, err = p.subdirs(ino); err != nil {
			return err
		}
		links += 2
	}
	if links != int(n.Nlink) && (len(names) > 0 || ino == store.Root) {
		p.odd(ino, "has nlink %d, counted %d", n.Nlink, links)
	}
	if p.rx.Live == ino {
		for _, err := range p.rx.PreservedChunks(ino, 0) {
			if err != nil {
				return err
			}
			p.odd(ino, "has content that was kept, and its row was not") // H6
			break
		}
	}
	return p.content(&n)
}

// names returns the names that lead to an inode, and looks at each.
func (p *snapshotChecker) names(ino store.Ino) (names []store.EntryKey, err error) {
	for _, key := range p.d.Names[ino] {
		var e store.Entry
		if err := p.rx.ReadEntry(key.Dir, key.Name, &e); err != nil || e.Ino != ino {
			if err := history.UnlessMissing(err); err != nil {
				return nil, err
			}
			continue
		}
		names = append(names, key)
		var n, dir store.Node
		if err := p.rx.ReadNode(ino, &n); err == nil && store.TypeOf(n.Mode) != e.Type {
			p.odd(ino, "is of type %d, and entry %q says %d", store.TypeOf(n.Mode), key.Name, e.Type)
		}
		if err := p.rx.ReadNode(key.Dir, &dir); err != nil || store.TypeOf(dir.Mode) != store.Dir {
			p.odd(ino, "has the name %q in inode %d, which is no directory", key.Name, key.Dir)
		}
	}
	return names, nil
}

// subdirs counts the directories in one.
func (p *snapshotChecker) subdirs(ino store.Ino) (n int, err error) {
	var l store.Listing
	if err := p.rx.ReadList(ino, "", 0, &l); err != nil {
		return 0, err
	}
	for _, item := range l.Items {
		if item.Type == store.Dir {
			n++
		}
	}
	return n, nil
}

// content compares the data rows of an inode with its size.
func (p *snapshotChecker) content(n *store.Node) error {
	stored := int64(0)
	for c, err := range p.rx.Chunks(n.Ino, 0) {
		if err != nil {
			return err
		}
		start := c.ID & (1<<store.ChunkBits - 1) << store.ChunkShift
		if start+c.Size > n.Size {
			p.odd(n.Ino, "has content after its end")
			return nil
		}
		stored += c.Size
	}
	if stored != n.Size-n.Holes {
		p.odd(n.Ino, "has %d bytes of content, and says %d", stored, n.Size-n.Holes)
	}
	return nil
}
