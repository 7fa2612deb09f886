package store

// A Path is one that a transaction is about to look up: names from a directory on, with slashes
// between them.
type Path struct {
	Top  Ino
	Name string
}

// A Need names the data that a caller of Walker.BeginAt reads through the transaction.
type Need uint8

// Needs.
const (
	NeedAll     Need = iota // anything
	NeedNode                // the path, and where a symbolic link leads
	NeedContent             // that, and the whole content of the file there
	NeedEntry               // the path, and no symbolic link is followed
	NeedInode               // NeedEntry, and the whole content of the file or symbolic link there
	NeedAnswer              // what one method of the transaction reads; the path does not count

	// NeedMore can be added to NeedNode and NeedContent by a caller that may read more, and that
	// reads all again in another transaction if Walker.Changed says so.
	NeedMore Need = 1 << 7
)
