package restore

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/foliofs/folio/internal/inoset"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// top restores the root of the volume.
func (r *restorer) top(root store.Entry) error {
	_, changed, err := r.inode(root, root, ".")
	if err == nil {
		r.note(r.counter(false, changed), ".")
	}
	return posix.PathError("restore", ".", err)
}

// counter returns the count that a name belongs to.
func (r *restorer) counter(made, changed bool) *int64 {
	switch {
	case made:
		return &r.report.Made
	case changed:
		return &r.report.Changed
	}
	return &r.report.Equal
}

// entry makes the entry of a name in a directory of the volume what it was. is.Ino is 0 if there is
// none. It reports whether the entry had to change.
func (r *restorer) entry(dir store.Ino, was, is store.Entry, name string) (linked bool, err error) {
	if r.scope != nil && was.Ino == is.Ino && was.Type == is.Type && !r.scope.has(was.Ino) {
		return false, r.skip(was, name)
	}
	if err := r.ctx.Err(); err != nil {
		return false, err
	}
	ino, changed, err := r.inode(was, is, name)
	if err != nil {
		return false, posix.PathError("restore", name, err)
	}
	if linked = is.Ino != ino || is.Type != was.Type; linked {
		if err := r.c.Tx.Link(dir, store.Entry{Name: was.Name, Ino: ino, Type: was.Type}); err != nil {
			return false, posix.PathError("restore", name, err)
		}
		r.moved(was.Type, ino, is, name)
	}
	r.note(r.counter(is.Ino == 0, changed || linked), name)
	return linked, nil
}

// moved notes that an inode has got the name that another one had. An inode of 0 is none.
func (r *restorer) moved(typ store.Type, ino store.Ino, is store.Entry, name string) {
	if ino == is.Ino { // its entry was damaged
		return
	}
	r.count(typ, ino, 1)
	r.count(is.Type, is.Ino, -1)
	if is.Ino != 0 && is.Type == store.Dir {
		r.gone = append(r.gone, goneDir{is.Ino, name})
	}
}

// count counts names of a file.
func (r *restorer) count(typ store.Type, ino store.Ino, names int) {
	if ino == 0 || typ == store.Dir {
		return
	}
	if r.links[ino] += names; r.links[ino] == 0 {
		delete(r.links, ino)
	}
}

// inode returns the inode of the volume that an inode of the snapshot is or becomes. When it is met
// first, it is restored; changed reports whether that changed it. is is the entry with the name
// now.
func (r *restorer) inode(was, is store.Entry, name string) (ino store.Ino, changed bool, err error) {
	ino, seen := r.made[was.Ino], r.placed.Has(uint64(was.Ino))
	if seen {
		ino = was.Ino
	}
	if ino != 0 && was.Type == store.Dir {
		return 0, false, store.Damaged("inode %d of the snapshot is a directory that has two names", was.Ino)
	}
	if ino != 0 {
		return ino, false, nil
	}
	n, err := r.past.Node(was.Ino)
	if err != nil {
		return 0, false, err
	}
	if store.TypeOf(n.Mode) != was.Type {
		return 0, false, store.Damaged("inode %d of the snapshot is of another type than its entry", was.Ino)
	}
	there, err := r.place(&n, is)
	switch {
	case err != nil:
		return 0, false, err
	case there.Ino == 0:
		ino, err = r.make(&n, name)
		return ino, true, err
	case there.Ino != n.Ino:
		r.made[n.Ino] = there.Ino
	}
	r.placed.Add(uint64(there.Ino))
	changed, err = r.renew(&n, &there, name)
	return there.Ino, changed, err
}

// place returns the inode of the volume that an inode of the snapshot is. If it has no name in the
// tree any more, it is the one with the name now, if that is younger than the snapshot, and a
// directory or equal. An Ino of 0 says that there is none.
func (r *restorer) place(was *store.Node, is store.Entry) (n store.Node, err error) {
	if r.hadName(was.Ino) {
		n, err = r.c.Tx.Node(was.Ino)
		if err == nil && store.TypeOf(n.Mode) == store.TypeOf(was.Mode) {
			return n, nil
		}
		if posix.IgnoreMissing(err) != nil {
			return n, err
		}
	}
	none := store.Node{}
	if is.Ino == 0 || is.Type != store.TypeOf(was.Mode) || r.placed.Has(uint64(is.Ino)) {
		return none, nil
	}
	if _, err := r.past.Node(is.Ino); !errors.Is(err, fs.ErrNotExist) {
		return none, err
	}
	if n, err = r.c.Tx.Node(is.Ino); err != nil || store.TypeOf(n.Mode) != is.Type {
		return none, posix.IgnoreMissing(err)
	}
	if is.Type == store.Dir {
		return n, nil
	}
	if equal, err := r.equal(was, &n); err != nil || !equal {
		return none, err
	}
	return n, nil
}

// renew makes an inode of the volume what it was. It reports whether it was not so.
func (r *restorer) renew(was, is *store.Node, name string) (changed bool, err error) {
	links := is.Nlink
	untouched, err := r.untouched(was, is)
	if err != nil {
		return false, err
	}
	switch {
	case store.TypeOf(is.Mode) == store.Dir:
		links, changed, err = r.directory(was.Ino, is.Ino, name)
	case !untouched:
		changed, err = r.content(was, is)
	}
	if err == nil && !untouched {
		var set bool
		set, err = r.setXattrs(was.Ino, is.Ino)
		changed = changed || set || !was.SameAttributes(is)
	}
	if err != nil || !changed && links == is.Nlink {
		return false, err
	}
	r.setAttributes(is, was)
	is.Nlink = links
	return true, r.c.Tx.Put(is)
}

// untouched reports whether an inode of the volume is as it was. Programs that write SQL may change
// a content and leave the inode alone: then its row was kept nevertheless.
func (r *restorer) untouched(was, is *store.Node) (bool, error) {
	if was.Ino != is.Ino || was.Ctime != is.Ctime || was.Size != is.Size || !was.SameAttributes(is) {
		return false, nil
	}
	if past, ok := r.past.(store.PastRx); ok {
		return past.Unchanged(is.Ino)
	}
	return true, nil
}

// make makes an inode as one of the snapshot was, with all that is in it.
func (r *restorer) make(was *store.Node, name string) (store.Ino, error) {
	n := store.Node{Nlink: 1}
	r.setAttributes(&n, was)
	if err := r.c.Tx.Insert(&n); err != nil {
		return 0, err
	}
	r.made[was.Ino] = n.Ino
	r.placed.Add(uint64(n.Ino))
	typ, err := store.TypeOf(n.Mode), error(nil)
	if r.count(typ, n.Ino, -1); typ == store.Dir { // the first name is counted already
		n.Nlink, _, err = r.directory(was.Ino, n.Ino, name)
	} else {
		_, err = r.content(was, &n)
	}
	if err == nil {
		_, err = r.setXattrs(was.Ino, n.Ino)
	}
	if err != nil {
		return 0, err
	}
	return n.Ino, r.c.Tx.Put(&n)
}

// directory makes the entries of a directory of the volume those that a directory of the snapshot
// has. links is how many links it has then.
func (r *restorer) directory(was, is store.Ino, name string) (links uint32, changed bool, err error) {
	before, err := store.EntriesOf(r.past, was)
	if err != nil {
		return 0, false, err
	}
	now, err := store.EntriesOf(r.c.Tx, is)
	if err != nil {
		return 0, false, err
	}
	for links = 2; len(before)+len(now) > 0; {
		if len(before) == 0 || len(now) > 0 && now[0].Name < before[0].Name {
			if err := r.take(is, now[0], path.Join(name, now[0].Name)); err != nil {
				return 0, false, err
			}
			now, changed = now[1:], true
			continue
		}
		e, there := before[0], store.Entry{}
		if before = before[1:]; len(now) > 0 && now[0].Name == e.Name {
			there, now = now[0], now[1:]
		}
		linked, err := r.entry(is, e, there, path.Join(name, e.Name))
		if err != nil {
			return 0, false, err
		}
		links, changed = links+uint32(isDir(e.Type)), changed || linked
	}
	return links, changed, nil
}

// take removes an entry that the snapshot does not have.
func (r *restorer) take(dir store.Ino, e store.Entry, name string) error {
	if err := r.c.Tx.Unlink(dir, e.Name); err != nil {
		return posix.PathError("restore", name, err)
	}
	r.moved(0, 0, e, name)
	r.note(&r.report.Removed, name)
	return nil
}

// finish removes the inodes that have lost their last name, and counts names.
func (r *restorer) finish() error {
	var cleared inoset.Set
	for len(r.gone) > 0 {
		last := len(r.gone) - 1
		dir := r.gone[last]
		r.gone = r.gone[:last]
		if r.placed.Has(uint64(dir.ino)) || !cleared.Add(uint64(dir.ino)) {
			continue // it has another name now
		}
		if err := r.clear(dir); err != nil {
			return posix.PathError("restore", dir.path, err)
		}
	}
	for _, ino := range slices.Sorted(maps.Keys(r.links)) {
		if err := r.setLinks(ino, r.links[ino]); err != nil {
			return err
		}
	}
	return nil
}

// clear removes a directory with all that is in it.
func (r *restorer) clear(dir goneDir) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	list, err := store.EntriesOf(r.c.Tx, dir.ino)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := r.take(dir.ino, e, path.Join(dir.path, e.Name)); err != nil {
			return err
		}
	}
	n, err := r.c.Tx.Node(dir.ino)
	if err != nil {
		return posix.IgnoreMissing(err)
	}
	n.Ctime = r.c.Now
	return r.c.Tx.Orphan(&n)
}

// setLinks adds names to those of a file. It may be that none is left.
func (r *restorer) setLinks(ino store.Ino, names int) error {
	n, err := r.c.Tx.Node(ino)
	if err != nil {
		return posix.IgnoreMissing(err)
	}
	n.Ctime = r.c.Now
	if left := int64(n.Nlink) + int64(names); left > 0 {
		n.Nlink = uint32(left)
		return r.c.Tx.Put(&n)
	}
	return r.c.Tx.Orphan(&n)
}
