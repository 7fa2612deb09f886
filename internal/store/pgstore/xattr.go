package pgstore

import (
	"math"
	"slices"

	"github.com/foliofs/folio/internal/store"
)

// An xattrRange holds the extended attributes of neighbouring inodes. A read transaction that is
// asked for those of one inode reads some more: a caller that copies a tree asks for those of each
// file, and mostly there are none.
type xattrRange struct {
	// lists holds the attributes of all inodes from first up to end, which is not in it.
	first, end store.Ino
	lists      map[store.Ino]*xattrList

	rows int  // that the next statement reads at most; 0 before the first one
	used bool // lists has answered another call
}

const (
	firstXattrRows = 8
	maxXattrRows   = 64
)

// An xattrList holds the extended attributes of an inode, or an error.
type xattrList struct {
	store.XattrList
	damage error
}

// add adds a row: a name and a value.
func (l *xattrList) add(ino store.Ino, name, value []byte) {
	if l.damage == nil {
		l.damage = l.Add(ino, name, value)
	}
}

// Xattrs returns the extended attributes of an inode.
func (r *reader) Xattrs(ino store.Ino) ([]store.Xattr, error) {
	if !ino.Valid() {
		return nil, nil
	}
	var l xattrList
	row := func(v [][]byte) { l.add(ino, v[0], v[1]) }
	if err := r.ask(step{statement: selectXattrs, args: []any{int64(ino)}, row: row}); err != nil {
		return nil, err
	}
	if l.damage != nil {
		return nil, l.damage
	}
	return l.List, nil
}

// Xattrs returns the extended attributes of an inode.
func (r *rx) Xattrs(ino store.Ino) ([]store.Xattr, error) {
	if !ino.Valid() {
		return nil, nil
	}
	x := &r.xattrs
	if x.has(ino) {
		x.used = true
	} else if err := r.readXattrs(ino); err != nil {
		return nil, err
	}
	switch l := x.lists[ino]; {
	case !x.has(ino): // it has more of them than were read
		return r.reader.Xattrs(ino)
	case l == nil:
		return nil, nil
	case l.damage != nil:
		return nil, l.damage
	default:
		return cloneXattrs(l.List), nil
	}
}

func (x *xattrRange) has(ino store.Ino) bool { return x.first <= ino && ino < x.end }

// readXattrs reads the range that begins with an inode.
func (r *rx) readXattrs(ino store.Ino) error {
	x := &r.xattrs
	x.begin(ino)
	rows, last := 0, ino
	err := r.ask(step{statement: selectXattrRange, args: []any{int64(ino), int64(x.rows)}, row: func(v [][]byte) {
		rows, last = rows+1, store.Ino(number(v[0]))
		if x.lists[last] == nil {
			x.lists[last] = new(xattrList)
		}
		x.lists[last].add(last, v[1], v[2])
	}})
	switch {
	case err != nil:
		return err
	case rows < x.rows: // there are no others
		x.end = math.MaxInt64
	default:
		x.end = last
	}
	return nil
}

// begin makes room for a range, which is longer if the one before was of use.
func (x *xattrRange) begin(ino store.Ino) {
	switch {
	case x.rows == 0:
		x.rows = firstXattrRows
	case x.used:
		x.rows = min(2*x.rows, maxXattrRows)
	default:
		x.rows = max(x.rows/2, 2)
	}
	x.first, x.end, x.used, x.lists = ino, ino, false, make(map[store.Ino]*xattrList)
}

// cloneXattrs returns a copy that the caller may change.
func cloneXattrs(list []store.Xattr) []store.Xattr {
	list = slices.Clone(list)
	for i := range list {
		list[i].Value = slices.Clone(list[i].Value)
	}
	return list
}
