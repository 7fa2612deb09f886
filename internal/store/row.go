package store

// Decode makes an inode of a row. It returns an error that matches ErrDamaged if no inode can have
// these numbers.
func (r *NodeRow) Decode(ino Ino) (Node, error) {
	n, fit := r.Node(ino)
	if !fit {
		return n, Damaged("inode %d has a number that no inode can have: mode %#o, nlink %d, uid %d, gid %d", ino, r.Mode, r.Nlink, r.UID, r.GID)
	}
	return n, n.Plausible()
}

// DecodeEntry makes an entry of the columns of its row.
func DecodeEntry[T string | []byte](dir Ino, name T, ino, typ int64) (Entry, error) {
	if !Ino(ino).Valid() || !ValidType(typ) {
		return Entry{}, Damaged("entry %.1000q of inode %d leads to inode %d of type %d", name, dir, ino, typ)
	}
	return Entry{Name: string(name), Ino: Ino(ino), Type: Type(typ)}, nil
}

// AddRow adds an entry of the columns of its row. It copies name.
func (l *Listing) AddRow(dir Ino, name []byte, ino, typ int64) error {
	switch {
	case !Ino(ino).Valid() || !ValidType(typ):
		_, err := DecodeEntry(dir, name, ino, typ)
		return err
	case !ValidName(name):
		return Damaged("inode %d has an entry with an impossible name: %.1000q", dir, name)
	}
	l.Add(name, Ino(ino), Type(typ))
	return nil
}

// An XattrList collects the extended attributes of an inode, which may be as long as the format
// allows.
type XattrList struct {
	List []Xattr
	size int
}

// Add adds a copy of an attribute. It returns an error that matches ErrDamaged if it is too long,
// or if there are too many.
func (l *XattrList) Add(ino Ino, name, value []byte) error {
	if len(name) > MaxXattrName || len(value) > MaxXattrValue {
		return Damaged("inode %d has an extended attribute %.100q that is too long", ino, name)
	}
	if l.size += len(name) + len(value); l.size > MaxXattrs {
		return Damaged("inode %d has more than %d bytes of extended attributes", ino, MaxXattrs)
	}
	l.List = append(l.List, Xattr{Name: string(name), Value: append([]byte{}, value...)})
	return nil
}
