package sqlstore

import (
	"database/sql"
	"io/fs"

	"github.com/foliofs/folio/internal/store"
)

// nodeColumns is how many columns table node has.
const nodeColumns = 11

// A reader reads in the transaction of its connection.
type reader struct{ *conn }

// An rx is a read transaction. It implements store.Rx.
type rx struct {
	reader
	s     *Store
	ended bool
}

// End ends the transaction. A second call does nothing.
func (r *rx) End() {
	if r.ended {
		return
	}
	r.ended = true
	if _, err := r.exec(commit); err != nil {
		r.s.readers.drop(r.conn)
	} else {
		r.s.readers.give(r.conn)
	}
	r.s.gate.Leave()
}

// Version identifies the snapshot.
func (r *rx) Version() uint64 { return r.version }

// Node returns an inode whose numbers are plausible.
func (r reader) Node(ino store.Ino) (n store.Node, err error) {
	if !ino.Valid() {
		return n, fs.ErrNotExist
	}
	if err := r.row(selectNode, r.dests[:nodeColumns-1], int64(ino)); err != nil {
		return n, err
	}
	raw := nodeRow(&r.numbers)
	if n, err = raw.Decode(ino); err != nil {
		return n, err
	}
	return n, r.fits(&n)
}

// largeFile is how many stored bytes an inode may claim without a look at the size of the database.
const largeFile = 16 << 20

// fits returns an error if an inode claims to have more content than the database has bytes.
func (r reader) fits(n *store.Node) error {
	stored := n.Size - n.Holes
	if stored <= largeFile {
		return nil
	}
	size, err := r.number(selectSize)
	if err == nil && stored > size {
		err = store.Damaged("inode %d has more content than the database: %d bytes", n.Ino, stored)
	}
	return err
}

// nodeRow takes the columns of an inode, the number last.
func nodeRow(v *[nodeColumns]int64) store.NodeRow {
	return store.NodeRow{
		Mode: v[0], Nlink: v[1], UID: v[2], GID: v[3], Size: v[4], Holes: v[5], Mtime: v[6], Ctime: v[7], Atime: v[8], Rdev: v[9],
	}
}

// Lookup returns the entry with this name in a directory.
func (r reader) Lookup(dir store.Ino, name string) (e store.Entry, err error) {
	if !store.ValidName(name) {
		return e, fs.ErrNotExist
	}
	if err := r.row(selectEntry, r.dests[:2], int64(dir), name); err != nil {
		return e, err
	}
	return store.DecodeEntry(dir, name, r.numbers[0], r.numbers[1])
}

// List adds the entries of a directory to l.
func (r reader) List(dir store.Ino, after string, max int, l *store.Listing) error {
	if max <= 0 {
		max = -1
	}
	rows, err := r.query(selectEntries, int64(dir), after, max)
	if err != nil {
		return err
	}
	defer rows.Close()
	var name sql.RawBytes
	dests := [...]any{&name, &r.numbers[0], &r.numbers[1]}
	for rows.Next() {
		if err := scan(rows, dests[:]); err != nil {
			return err
		}
		if err := l.AddRow(dir, name, r.numbers[0], r.numbers[1]); err != nil {
			return err
		}
	}
	return r.explain(rows.Err())
}

// Xattrs returns the extended attributes of an inode.
func (r reader) Xattrs(ino store.Ino) (list []store.Xattr, err error) {
	rows, err := r.query(selectXattrs, int64(ino))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var name, value sql.RawBytes
	dests, found := [...]any{&name, &value}, store.XattrList{}
	for rows.Next() {
		if err := scan(rows, dests[:]); err != nil {
			return nil, err
		}
		if err := found.Add(ino, name, value); err != nil {
			return nil, err
		}
	}
	return found.List, r.explain(rows.Err())
}
