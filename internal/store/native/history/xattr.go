package history

import (
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// Xattrs implements store.Rx.
func (r *Rx) Xattrs(ino store.Ino) (list []store.Xattr, err error) {
	err = r.guard(func() error {
		list, err = r.xattrs(ino)
		return err
	})
	return list, err
}

func (r *Rx) xattrs(ino store.Ino) ([]store.Xattr, error) {
	if ino >= r.Next {
		return nil, nil
	}
	list, err := r.Rx.ReadXattrs(ino)
	if err != nil || r.Live == ino {
		return list, err
	}
	was, err := r.Engine.Table("xattr_was")
	if err != nil {
		return nil, err
	}
	last := "" // no name is empty
	for row, err := range was.Prefix(int64(ino)) {
		if err != nil {
			return nil, err
		}
		x, kept, until, err := PreservedXattrOf(ino, &row)
		if err != nil {
			return nil, err
		}
		if until < r.ID || x.Name == last {
			continue
		}
		last = x.Name
		i, found := slices.BinarySearchFunc(list, x.Name, func(x store.Xattr, name string) int { return strings.Compare(x.Name, name) })
		switch {
		case found && kept:
			list[i] = x
		case found:
			list = slices.Delete(list, i, i+1)
		case kept:
			list = slices.Insert(list, i, x)
		}
	}
	return list, nil
}

// PreservedXattrOf makes a copy of a row of table xattr_was. kept is false if it says that there
// was no such attribute.
func PreservedXattrOf(ino store.Ino, row *sqlitefile.Row) (x store.Xattr, kept bool, until int64, err error) {
	var v [rowstore.XattrWasColumns]sqlitefile.Value
	if err := row.ValuesUpTo(store.MaxXattrValue+1, v[:]); err != nil {
		return x, false, 0, err
	}
	name, value := v[rowstore.XattrWasName].Bytes(), v[rowstore.XattrWasValue].Bytes()
	if len(name) > store.MaxXattrName || len(value) > store.MaxXattrValue || v[rowstore.XattrWasName].Kind() != sqlitefile.KindText {
		return x, false, 0, store.Damaged("an impossible extended attribute %.100q was kept of inode %d", name, ino)
	}
	kept = v[rowstore.XattrWasValue].Kind() != sqlitefile.KindNull
	return store.Xattr{Name: string(name), Value: append([]byte{}, value...)}, kept, v[rowstore.XattrWasUntil].Int64(), nil
}
