package folio

import (
	"io/fs"
	"sync"

	"github.com/foliofs/folio/store"
)

// A dirEntry is one name in a directory that was read. Its inode is looked up when Info asks for it. There are many of
// them: it is kept small.
type dirEntry struct {
	name string
	from *reader
	ref  uint64 // inode and type, as refOf makes it
}

var _ fs.DirEntry = (*dirEntry)(nil)

const refTypeBits = 3 // of a ref, the lowest; MaxIno leaves room

func refOf(ino store.Ino, typ store.Type) uint64 { return uint64(ino)<<refTypeBits | uint64(typ) }

func (d *dirEntry) ino() store.Ino  { return store.Ino(d.ref >> refTypeBits) }
func (d *dirEntry) typ() store.Type { return store.Type(d.ref & (1<<refTypeBits - 1)) }

func (d *dirEntry) Name() string      { return d.name }
func (d *dirEntry) IsDir() bool       { return d.typ() == store.Dir }
func (d *dirEntry) Type() fs.FileMode { return typeModes[d.typ()] }
func (d *dirEntry) String() string    { return fs.FormatDirEntry(d) }

// Info returns the file's state now, or, in a View, then. It fails with fs.ErrNotExist if the file was removed since.
func (d *dirEntry) Info() (fs.FileInfo, error) {
	rx, err := d.from.begin()
	if err != nil {
		return nil, pathError("lstat", d.name, err)
	}
	defer d.from.end(rx)
	info, err := nodeInfo(rx, d.ino(), d.name)
	if err != nil {
		return nil, pathError("lstat", d.name, err)
	}
	return info, nil
}

// nodeInfo describes an inode under a name.
func nodeInfo(rx store.Rx, ino store.Ino, name string) (*fileInfo, error) {
	n, err := rx.Node(ino)
	if err != nil {
		return nil, err
	}
	return &fileInfo{name: name, node: &n}, nil
}

var listings = sync.Pool{New: func() any { return new(store.Listing) }}

// readEntries returns the entries of dir that sort after a name, at most n, or all if n is 0 or less. It allocates
// twice, whatever their number: the names and the entries.
func (r *reader) readEntries(rx store.Rx, dir store.Ino, after string, n int) ([]dirEntry, error) {
	l := listings.Get().(*store.Listing)
	defer listings.Put(l)
	l.Reset()
	if err := rx.List(dir, after, n, l); err != nil {
		return nil, err
	}
	names, start := string(l.Names), 0
	entries := make([]dirEntry, len(l.Items))
	for i, item := range l.Items {
		entries[i] = dirEntry{name: names[start:item.End], from: r, ref: refOf(item.Ino, item.Type)}
		start = item.End
	}
	return entries, nil
}

// listOf returns entries as a list that belongs to the caller.
func listOf(entries []dirEntry) []fs.DirEntry {
	list := make([]fs.DirEntry, len(entries))
	for i := range entries {
		list[i] = &entries[i]
	}
	return list
}
