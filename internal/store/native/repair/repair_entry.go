package repair

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/check"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// A badEntry is a row of table entry that must go, perhaps for another one.
type badEntry struct {
	parent     any // whatever it is, and so
	name       any
	dir        store.Ino
	as         store.Entry
	what, done string
}

// maxRepaired is how long an impossible name may be, in bytes, for its entry to be changed.
const maxRepaired = 1 << 20

// entries removes the entries that lead to no inode, and the entries in an inode that is not a
// directory; nameless finds new names for inodes that had no other. It renames entries with
// impossible names, and corrects types.
func (r *repairer) entries() error {
	var bad []badEntry
	err := r.rows(rowstore.EntryTable, func(row *sqlitefile.Row) error {
		var v [rowstore.EntryColumns]sqlitefile.Value
		if size, err := row.Size(rowstore.EntryName); err != nil || size > maxRepaired {
			return err
		}
		err := row.ValuesUpTo(maxRepaired+1, v[:])
		if b, ok := r.judge(&v); !ok && err == nil {
			bad = append(bad, b)
		}
		return err
	})
	for i := range bad {
		if err != nil {
			return err
		}
		err = r.replaceEntry(&bad[i])
	}
	return err
}

// judge reports whether an entry is correct. If not, b says how to replace it.
func (r *repairer) judge(v *[rowstore.EntryColumns]sqlitefile.Value) (b badEntry, ok bool) {
	b = badEntry{parent: v[rowstore.EntryParent].Any(), name: v[rowstore.EntryName].Any(), dir: store.Ino(v[rowstore.EntryParent].Int64()), done: "removed"}
	ino, typ := store.Ino(v[rowstore.EntryIno].Int64()), v[rowstore.EntryType].Int64()
	dir, n := r.seen.Find(b.dir), r.seen.Find(ino)
	switch {
	case v[rowstore.EntryParent].Kind() != sqlitefile.KindInteger:
		b.what = fmt.Sprintf("entry %q lies in %s, which is no inode", v[rowstore.EntryName].Bytes(), v[rowstore.EntryParent])
		return b, false
	case n == nil:
		b.what = fmt.Sprintf("entry %q leads to inode %d, which does not exist", v[rowstore.EntryName].Bytes(), ino)
		return b, false
	case ino == store.Root:
		b.what = fmt.Sprintf("entry %q leads to the root", v[rowstore.EntryName].Bytes())
		return b, false
	case dir == nil || store.TypeOf(dir.Mode) != store.Dir:
		b.what = fmt.Sprintf("has entry %q, but is no directory", v[rowstore.EntryName].Bytes())
		return b, false
	}
	b.as = store.Entry{Name: string(v[rowstore.EntryName].Bytes()), Ino: ino, Type: store.TypeOf(n.Mode)}
	if v[rowstore.EntryName].Kind() != sqlitefile.KindText || !store.ValidName(b.as.Name) {
		b.what = fmt.Sprintf("has an entry with an impossible name: %q", b.as.Name)
		b.as.Name = ""
		return b, false
	}
	b.what = fmt.Sprintf("entry %q says type %d, inode %d is of type %d", b.as.Name, typ, ino, b.as.Type)
	b.done = "corrected"
	return b, typ == int64(b.as.Type) && rowstore.RightKinds(v)
}

// replaceEntry removes an entry, and adds the entry that belongs in its place.
func (r *repairer) replaceEntry(b *badEntry) error {
	entry, err := r.t.Table(rowstore.EntryTable)
	if err != nil {
		return err
	}
	n, err := entry.DeleteKey(b.parent, b.name)
	if err != nil || n != 1 {
		return r.t.Fail(err)
	}
	if b.as.Ino != 0 {
		if b.as.Name == "" {
			if b.as.Name, err = r.freeName(b.dir, numbered(b.as.Ino)); err != nil {
				return err
			}
			b.done = fmt.Sprintf("renamed %q", b.as.Name)
		}
		err = r.t.Link(b.dir, b.as)
	}
	r.done(b.dir, b.done, "%s", b.what)
	return err
}

// numbered returns a name for an inode that has none. For example, inode 7 becomes "#7".
func numbered(ino store.Ino) string { return fmt.Sprintf("#%d", ino) }

// freeName returns a name that no entry of a directory has.
func (r *repairer) freeName(dir store.Ino, name string) (string, error) {
	free := name
	for i := 2; ; i++ {
		_, err := r.t.Lookup(dir, free)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return free, nil
		case err != nil && !errors.Is(err, store.ErrDamaged):
			return "", err
		}
		free = fmt.Sprintf("%s-%d", name, i)
	}
}

// orphans removes the mark of an orphan from inodes with a name, with entries, or with a link
// count above 0: the next reap would remove their content (R2).
func (r *repairer) orphans() error {
	orphan, err := r.t.Table(rowstore.OrphanTable)
	if err != nil {
		return err
	}
	var wrong []int64
	err = r.rows(rowstore.OrphanTable, func(row *sqlitefile.Row) error {
		ino := row.Rowid()
		n := r.seen.Find(store.Ino(ino))
		if !store.Ino(ino).Valid() || n != nil && (n.Names > 0 || n.Nlink > 0 || n.Ino == store.Root || n.Entries > 0) {
			wrong = append(wrong, ino)
		}
		return nil
	})
	for _, ino := range wrong {
		if err != nil {
			return err
		}
		r.done(store.Ino(ino), "is none any more", "is an orphan, but has a name, or says so, or has something in it or an impossible number")
		_, err = orphan.Delete(ino)
	}
	return err
}

// tree lets every directory have one name, and the way up from it end at the root.
func (r *repairer) tree() error {
	astray := false
	for i := range r.seen.Nodes() {
		n := &r.seen.Nodes()[i]
		astray = astray || n.IsTree() && n.Ino != store.Root && (n.Names != 1 || !r.seen.Reachable(n.Ino))
	}
	if !astray {
		return nil
	}
	visited := make(map[store.Ino]bool)
	if err := r.visit(store.Root, visited); err != nil {
		return err
	}
	for _, named := range []bool{false, true} { // a directory that is not visited after those without a name is part of a loop
		for i := range r.seen.Nodes() {
			n := &r.seen.Nodes()[i]
			if !n.IsTree() || visited[n.Ino] || n.Names > 0 && !named {
				continue
			}
			if err := r.rename(n); err != nil {
				return err
			}
			if err := r.visit(n.Ino, visited); err != nil {
				return err
			}
		}
	}
	return nil
}

// visit goes through a directory and those in it, and removes names of directories that were
// visited before.
func (r *repairer) visit(top store.Ino, visited map[store.Ino]bool) error {
	visited[top] = true
	for todo := []store.Ino{top}; len(todo) > 0; {
		dir := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		below, err := r.directoriesIn(dir)
		if err != nil {
			return err
		}
		for _, e := range below {
			if !visited[e.Ino] {
				visited[e.Ino] = true
				todo = append(todo, e.Ino)
				continue
			}
			r.done(dir, "removed", "entry %q leads to inode %d, a directory with another name", e.Name, e.Ino)
			if err := r.t.Unlink(dir, e.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// directoriesIn returns the entries of a directory that are directories.
func (r *repairer) directoriesIn(dir store.Ino) (list []store.Entry, err error) {
	t, err := r.t.Table(rowstore.EntryTable)
	if err != nil {
		return nil, err
	}
	for e, err := range entries(t.Table, dir) {
		if err == nil {
			err = r.seen.alive()
		}
		if err != nil {
			return nil, err
		}
		if n := r.seen.Find(e.Ino); e.Type == store.Dir && n != nil && n.IsTree() {
			list = append(list, store.Entry{Name: string(e.Name), Ino: e.Ino})
		}
	}
	return list, nil
}

// nameless gives a name in lost+found to inodes that have none.
func (r *repairer) nameless() error {
	for i := range r.seen.Nodes() {
		n := &r.seen.Nodes()[i]
		if n.Names > 0 || n.Orphan || n.Ino == store.Root {
			continue
		}
		if err := r.rename(n); err != nil {
			return err
		}
	}
	return nil
}

// rename gives an inode a name in lost+found.
func (r *repairer) rename(n *check.Node) error {
	if err := r.needLost(); err != nil {
		return err
	}
	name, err := r.freeName(r.lost, numbered(n.Ino))
	if err != nil {
		return err
	}
	r.done(n.Ino, fmt.Sprintf("named %q in %s", name, lostFound), "no name leads from the root to it")
	return r.t.Link(r.lost, store.Entry{Name: name, Ino: n.Ino, Type: store.TypeOf(n.Mode)})
}

// lostFound is the directory for inodes without a name. fsck calls it the same.
const lostFound = "lost+found"

// needLost finds lost+found in the root, or makes it.
func (r *repairer) needLost() error {
	if r.lost != 0 {
		return nil
	}
	e, err := r.t.Lookup(store.Root, lostFound)
	if err == nil && e.Type == store.Dir {
		r.lost = e.Ino
		return nil
	}
	name, err := r.freeName(store.Root, lostFound)
	if err != nil {
		return err
	}
	n := store.Node{Mode: store.ModeDir | 0o700, Nlink: 2, Mtime: r.now, Ctime: r.now, Atime: r.now}
	if err := r.t.Insert(&n); err != nil {
		return err
	}
	r.lost = n.Ino
	return r.t.Link(store.Root, store.Entry{Name: name, Ino: n.Ino, Type: store.Dir})
}
