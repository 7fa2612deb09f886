// Package store is the seam between the file system, package folio, and the database that keeps its
// inodes, names and contents. The file system knows paths, symbolic links, handles and io/fs; a
// store knows numbers and bytes.
//
// A store promises:
//
//	S1  A transaction is a snapshot. It reads the same data until it ends, even if other
//	    transactions commit meanwhile.
//	S2  A method returns copies. They stay valid after the transaction, and no memory that belongs
//	    to the store ever leaves it.
//	S3  A Store is safe for concurrent use. A transaction must be used by one goroutine at a time.
//	S4  Whatever bytes the database holds, a method returns an error or an answer. It must not panic
//	    and must not loop.
//	S5  A write transaction happens as a whole or not at all. It sees its own changes; other
//	    transactions see them once it is committed.
//	S6  An inode without a name stays, with its content, while any process has it pinned. Then it is
//	    removed, or at the latest when the volume is opened next. Its number is not given to another
//	    file before.
//	S7  Errors match fs.ErrNotExist if a row does not exist, ErrDamaged if the content contradicts
//	    itself, and fs.ErrClosed after Close. They do not name a path in the volume: the file system
//	    adds that.
package store

import (
	"context"
)

// A Store keeps one volume. It is safe for concurrent use (S3).
type Store interface {
	// Begin starts a read transaction, which reads one snapshot (S1).
	Begin(ctx context.Context) (Rx, error)
	// Version returns what Rx.Version would return in a transaction that began now, if that is
	// known without beginning one. It is a matter of nanoseconds.
	Version() (version uint64, ok bool)
	// Info describes the volume without looking at every file.
	Info(ctx context.Context) (Info, error)
	// Check looks for contradictions in the volume: among its rows, and in the database below. It
	// does not look at contents.
	Check(ctx context.Context, o *CheckOptions) (*Report, error)
	// Features returns the optional parts of the store. They do not change.
	Features() Features
	// Close waits for the transactions in progress and releases the volume.
	Close() error
	Writer
}

// A Writer changes a volume.
type Writer interface {
	// Update calls fn with a write transaction, which is committed if fn returns nil (S5). It has
	// then survived the death of the process. After a loss of power the last transactions may be
	// missing, but none in the middle, unless Sync was called. One transaction runs at a time.
	// Update returns ErrReadOnly if the volume cannot be changed.
	Update(ctx context.Context, fn func(tx Tx) error) error
	// Sync returns when all transactions that were committed before survive the loss of power.
	Sync(ctx context.Context) error
	// Pin keeps an inode, and its content, even if it loses its last name (S6), until Unpin was
	// called as often. A caller that has found the inode in a transaction that began before Pin
	// must check again, in a transaction that begins after Pin, that the inode still has a name.
	Pin(ino Ino) error
	// Unpin ends one Pin.
	Unpin(ino Ino)
}

// An Rx is a read transaction.
type Rx interface {
	// End ends the transaction. The Rx must not be used any more.
	End()
	// Version identifies the snapshot within its Store: transactions with equal versions read the
	// same.
	Version() uint64
	// Node returns an inode.
	Node(ino Ino) (Node, error)
	// Lookup returns the entry with this name in a directory.
	Lookup(dir Ino, name string) (Entry, error)
	// List adds to l the entries of a directory that sort after the given name, at most max of
	// them, all if max is 0 or less. They are sorted by the bytes of their names. A directory that
	// does not exist has none.
	List(dir Ino, after string, max int, l *Listing) error
	// ReadAt fills p with a copy (S2) of the content of n, a regular file or a symbolic link, from
	// offset off on. Holes read as zeros. As with io.ReaderAt, it returns io.EOF if n.Size ends it
	// earlier.
	ReadAt(n Node, p []byte, off int64) (int, error)
	// NextData returns the first byte of n from off on that is stored, or n.Size if all that
	// follows is a hole.
	NextData(n Node, off int64) (int64, error)
	// NextHole returns the first byte of n from off on that is not stored, or n.Size if there is
	// none.
	NextHole(n Node, off int64) (int64, error)
	// Xattrs returns the extended attributes of an inode, sorted by name.
	Xattrs(ino Ino) ([]Xattr, error)
}

// A Tx is a write transaction. It keeps no invariant of docs/reference/format.md except the ones
// that its methods name: the file system does. After an error of a method that changes something
// the transaction cannot be committed.
type Tx interface {
	Rx // Version returns 0: results must not be cached, because the transaction can change them
	// Insert adds an inode. It sets n.Ino to a number that no inode has. No process that has the
	// volume open can still know that number from an earlier inode.
	Insert(n *Node) error
	// Put replaces an inode.
	Put(n *Node) error
	// Orphan says that an inode has lost its last name: see S6. It sets n.Nlink to 0 and replaces
	// the inode.
	Orphan(n *Node) error
	// Adopt takes back Orphan: the inode is about to get a name. It replaces the inode with n. The
	// caller must set n.Nlink before, and must have pinned the inode, or have orphaned it in this
	// transaction.
	Adopt(n *Node) error
	// Link adds an entry to a directory, or replaces the one of that name.
	Link(dir Ino, e Entry) error
	// Unlink removes an entry.
	Unlink(dir Ino, name string) error
	// WriteAt writes p to the content of n from off on, which need not lie within it, and sets
	// n.Size and n.Holes. The caller must put n. Beyond MaxSize it fails with ErrTooLarge, and
	// nothing has changed.
	WriteAt(n *Node, p []byte, off int64) error
	// Truncate cuts the content of n off, or adds a hole, and sets n.Size and n.Holes. The caller
	// puts n. It fails as WriteAt does.
	Truncate(n *Node, size int64) error
	// SetXattr sets an extended attribute, or removes it if value is nil.
	SetXattr(ino Ino, name string, value []byte) error
}
