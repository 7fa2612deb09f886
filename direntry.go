package folio

import (
	"io/fs"

	"github.com/foliofs/folio/internal/store"
)

// A beginner begins and ends a transaction that reads.
type beginner interface {
	begin() (store.Rx, error)
	end(rx store.Rx)
}

// A dirList is the entries of a directory. It is immutable: any number of dirEntries, and the
// dirCache, share one.
type dirList struct {
	from    beginner
	names   string // one after the other
	items   []listItem
	entries []dirEntry // the entries for callers: shared, as they are immutable too
}

// A listItem is one entry of a dirList. It holds no pointer, so that keeping many costs the garbage
// collector nothing.
type listItem struct {
	ref uint64 // inode and type, as refOf makes it
	end int    // of its name in names
}

const refTypeBits = 3 // of a ref, the lowest; store.MaxIno leaves room

func refOf(ino store.Ino, typ store.Type) uint64 { return uint64(ino)<<refTypeBits | uint64(typ) }

// A dirEntry is one name in a directory that was read. Its inode is looked up when Info asks for
// it.
type dirEntry struct {
	list *dirList
	i    int
}

var _ fs.DirEntry = (*dirEntry)(nil)

func (d *dirEntry) ino() store.Ino  { return store.Ino(d.list.items[d.i].ref >> refTypeBits) }
func (d *dirEntry) typ() store.Type { return store.Type(d.list.items[d.i].ref & (1<<refTypeBits - 1)) }

func (d *dirEntry) Name() string      { return d.list.name(d.i) }
func (d *dirEntry) IsDir() bool       { return d.typ() == store.Dir }
func (d *dirEntry) Type() fs.FileMode { return typeModes[d.typ()] }
func (d *dirEntry) String() string    { return fs.FormatDirEntry(d) }

// name returns the name of the i-th entry.
func (l *dirList) name(i int) string {
	start := 0
	if i > 0 {
		start = l.items[i-1].end
	}
	return l.names[start:l.items[i].end]
}

// Info returns the file's state now, or, in a View, then. It fails with fs.ErrNotExist if the file
// was removed since.
func (d *dirEntry) Info() (fs.FileInfo, error) {
	r := d.list.from
	rx, err := r.begin()
	if err != nil {
		return nil, pathError("lstat", d.Name(), err)
	}
	defer r.end(rx)
	info, err := nodeInfo(rx, d.ino(), d.Name())
	if err == nil && info.node.Nlink == 0 { // it is open elsewhere, or its remains are not removed yet
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, pathError("lstat", d.Name(), err)
	}
	return info, nil
}

// nodeInfo describes an inode under a name.
func nodeInfo(rx store.Rx, ino store.Ino, name string) (*fileInfo, error) {
	n, err := rx.Node(ino)
	if err != nil {
		return nil, err
	}
	return newFileInfo(name, &n), nil
}

// dirEntries returns the result of ReadDir, a slice that the caller may change.
func (l *dirList) dirEntries() []fs.DirEntry {
	list := make([]fs.DirEntry, len(l.entries))
	for i := range l.entries {
		list[i] = &l.entries[i]
	}
	return list
}
