package rowstore

import (
	"io/fs"
	"slices"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// A Rx is a read transaction. It implements store.Rx. As it is only a pointer, making one
// allocates nothing.
type Rx struct{ Engine *sqlitefile.Rx }

// End ends the transaction.
func (r Rx) End() { r.Engine.End() }

// Version identifies the snapshot.
func (r Rx) Version() uint64 { return r.Engine.Version() }

// Node returns an inode whose numbers are plausible (N3). Its type is known, its size is within
// store.MaxSize, and the bytes that are not holes fit into the database.
func (r Rx) Node(ino store.Ino) (n store.Node, err error) {
	err = r.Engine.Guard(func() error { return r.ReadNode(ino, &n) })
	return n, err
}

func (r Rx) ReadNode(ino store.Ino, n *store.Node) error {
	t, err := r.Engine.Table("node")
	if err != nil || !ino.Valid() {
		return missing(err)
	}
	row, ok, err := t.Get(int64(ino))
	if err != nil || !ok {
		return missing(err)
	}
	return r.plausible(&row, n)
}

// plausible decodes an inode and checks its numbers.
func (r Rx) plausible(row *sqlitefile.Row, n *store.Node) error {
	if err := decodeNode(row, n); err != nil {
		return err
	}
	return r.Fits(n)
}

// Fits returns an error if the numbers of an inode cannot be true.
func (r Rx) Fits(n *store.Node) error {
	if err := n.Plausible(); err != nil {
		return err
	}
	if stored := n.Size - n.Holes; stored > store.ChunkSize && stored > r.DatabaseSize() {
		return store.Damaged("inode %d has more content than the database: %d bytes", n.Ino, stored)
	}
	return nil
}

func (r Rx) DatabaseSize() int64 {
	info := r.Engine.Info()
	return int64(info.PageCount) * int64(info.PageSize)
}

// missing turns a row that is not there into an error, unless err says more.
func missing(err error) error {
	if err == nil {
		err = fs.ErrNotExist
	}
	return err
}

func decodeNode(row *sqlitefile.Row, n *store.Node) error {
	var v [NodeColumns]sqlitefile.Value
	if err := row.ValuesUpTo(MaxNumber, v[:]); err != nil {
		return err
	}
	raw, odd := NodeRow(&v)
	var err error
	*n, err = raw.Decode(store.Ino(row.Rowid()))
	if odd {
		at := slices.IndexFunc(v[:], func(v sqlitefile.Value) bool { return v.Kind() != sqlitefile.KindInteger })
		return store.Damaged("inode %d: table node holds %v in column %s", n.Ino, v[at].Kind(), TableShapes[NodeTable].Columns[at])
	}
	return err
}

// NodeRow takes the columns of an inode. It is odd if some are no integers.
func NodeRow(v *[NodeColumns]sqlitefile.Value) (r store.NodeRow, odd bool) {
	for i := range v {
		odd = odd || v[i].Kind() != sqlitefile.KindInteger
	}
	return store.NodeRow{
		Mode:  v[NodeMode].Int64(),
		Nlink: v[NodeNlink].Int64(),
		UID:   v[nodeUID].Int64(),
		GID:   v[nodeGID].Int64(),
		Size:  v[NodeSize].Int64(),
		Holes: v[nodeHoles].Int64(),
		Mtime: v[nodeMtime].Int64(),
		Ctime: v[nodeCtime].Int64(),
		Atime: v[NodeAtime].Int64(),
		Rdev:  v[nodeRdev].Int64(),
	}, odd
}

// Lookup returns the entry with this name in a directory.
func (r Rx) Lookup(dir store.Ino, name string) (e store.Entry, err error) {
	err = r.Engine.Guard(func() error { return r.ReadEntry(dir, name, &e) })
	return e, err
}

func (r Rx) ReadEntry(dir store.Ino, name string, e *store.Entry) error {
	t, err := r.Engine.Table("entry")
	if err != nil || !store.ValidName(name) {
		return missing(err)
	}
	row, ok, err := t.Find(int64(dir), name)
	if err != nil || !ok {
		return missing(err)
	}
	return decodeEntry(&row, name, e)
}

// decodeEntry decodes the entry of that name.
func decodeEntry(row *sqlitefile.Row, name string, e *store.Entry) error {
	var raw RawEntry
	if err := raw.Decode(row); err != nil {
		return err
	}
	*e = store.Entry{Name: name, Ino: raw.Ino, Type: raw.Type}
	return nil
}

// Xattrs returns the extended attributes of an inode.
func (r Rx) Xattrs(ino store.Ino) (list []store.Xattr, err error) {
	err = r.Engine.Guard(func() error {
		list, err = r.ReadXattrs(ino)
		return err
	})
	return list, err
}

func (r Rx) ReadXattrs(ino store.Ino) ([]store.Xattr, error) {
	t, err := r.Engine.Table("xattr")
	if err != nil {
		return nil, err
	}
	var found store.XattrList
	for row, err := range t.Prefix(int64(ino)) {
		if err == nil {
			err = addXattr(&found, ino, &row)
		}
		if err != nil {
			return nil, err
		}
	}
	return found.List, nil
}

// addXattr adds a copy of an extended attribute (N2).
func addXattr(l *store.XattrList, ino store.Ino, row *sqlitefile.Row) error {
	var v [XattrColumns]sqlitefile.Value
	if err := row.ValuesUpTo(store.MaxXattrValue+1, v[:]); err != nil {
		return err
	}
	name, value := v[XattrName], v[XattrValue]
	if name.Kind() != sqlitefile.KindText || value.Kind() < sqlitefile.KindText {
		return store.Damaged("inode %d has an extended attribute %q of kind %s", ino, name.Bytes(), value.Kind())
	}
	return l.Add(ino, name.Bytes(), value.Bytes())
}
