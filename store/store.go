// Package store is the seam between the file system, package folio, and what keeps its inodes, names and contents. The
// file system knows paths, symbolic links, handles and io/fs; a store knows numbers and bytes.
//
// A store promises:
//
//	S1  A transaction is a snapshot: whatever others write, it reads the same until it ends.
//	S2  What a method returns is a copy. It stays valid after the transaction, and no memory that belongs to the store
//	    ever leaves it.
//	S3  A Store is safe for concurrent use. A transaction belongs to one goroutine at a time.
//	S4  Whatever the bytes below it are, a method returns an error or an answer: it does not panic, and it does not loop.
//	S5  Errors match fs.ErrNotExist where something is not there, ErrDamaged where the content contradicts itself, and fs.ErrClosed
//	    after Close. They do not name a path in the volume: the file system does.
package store

import (
	"context"
	"errors"
)

var (
	// ErrNotVolume says that a database belongs to another application.
	ErrNotVolume = errors.New("a SQLite database, but not a Folio volume")
	// ErrNewerVersion says that a volume was made by a later version of Folio.
	ErrNewerVersion = errors.New("made by a newer Folio; update to open it")
	// ErrDamaged says that what a store holds contradicts itself: a name without an inode, a chunk that is missing.
	ErrDamaged = errors.New("volume is damaged")
	// ErrTooLarge says that a file has more bytes than MaxSize.
	ErrTooLarge = errors.New("file too large")
)

// A Store keeps one volume.
type Store interface {
	// Begin starts a read transaction.
	Begin(ctx context.Context) (Rx, error)
	// Version returns what Rx.Version would return in a transaction that began now, if that is known without beginning one. It
	// is a matter of nanoseconds.
	Version() (version uint64, ok bool)
	// Info describes the volume without looking at every file.
	Info(ctx context.Context) (Info, error)
	// Check looks at all that the volume holds, contents excepted, and reports what contradicts itself.
	Check(ctx context.Context) (*Report, error)
	// Close waits for the transactions in progress and releases the volume.
	Close() error
}

// An Rx is a read transaction.
type Rx interface {
	// End ends the transaction. The Rx must not be used any more.
	End()
	// Version identifies the snapshot within its Store: transactions with equal versions read the same.
	Version() uint64
	// Node returns an inode.
	Node(ino Ino) (Node, error)
	// Lookup returns the entry with this name in a directory.
	Lookup(dir Ino, name string) (Entry, error)
	// List adds to l the entries of a directory that sort after the given name, at most max of them, all if max is 0 or
	// less. They are sorted by the bytes of their names. A directory that does not exist has none.
	List(dir Ino, after string, max int, l *Listing) error
	// ReadAt fills p with the content of n, a regular file or a symbolic link, from offset off on. What lies in a hole is
	// zeros. As with io.ReaderAt, it returns io.EOF if n.Size ends it earlier.
	ReadAt(n Node, p []byte, off int64) (int, error)
	// Xattrs returns the extended attributes of an inode, sorted by name.
	Xattrs(ino Ino) ([]Xattr, error)
}
