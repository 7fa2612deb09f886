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
//	S5  A write transaction happens as a whole or not at all. It sees its own changes, and nobody else does before it is committed.
//	S6  An inode without a name stays, with its content, for as long as somebody holds it, in whatever process; then it goes, or when the
//	    volume is opened next. Its number is not given to another file before.
//	S7  Errors match fs.ErrNotExist where something is not there, ErrDamaged where the content contradicts itself, and fs.ErrClosed
//	    after Close. They do not name a path in the volume: the file system does.
package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/foliofs/folio/internal/posix"
)

var (
	// ErrNotVolume says that a database belongs to another application.
	ErrNotVolume = errors.New("a SQLite database, but not a Folio volume")
	// ErrNewerVersion says that a volume was made by a later version of Folio.
	ErrNewerVersion = errors.New("made by a newer Folio; update to open it")
	// ErrDamaged says that what a store holds contradicts itself: a name without an inode, a chunk that is missing.
	ErrDamaged = posix.Damaged("volume is damaged")
	// ErrTooLarge says that a file has more bytes than MaxSize.
	ErrTooLarge = posix.TooLarge("file too large")
	// ErrReadOnly says that a volume cannot be changed: it was opened so, or its file or disk is read-only.
	ErrReadOnly = posix.ReadOnly("volume is read-only")
	// ErrBusy says that others were in the way for longer than one wanted to wait.
	ErrBusy = posix.Busy("volume is busy")
	// ErrFull says that there is no room: on the disk, in the volume, or among the numbers of inodes.
	ErrFull = posix.Full("volume or disk is full")
	// ErrLogLeft says that Close has left a log next to the volume. Nothing is lost.
	ErrLogLeft = errors.New("the log stays next to the volume: keep the two together")
)

// Damaged makes an error that matches ErrDamaged.
func Damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

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
	Writer
}

// A Writer changes a volume.
type Writer interface {
	// Update calls fn with a write transaction, which is committed if fn returns nil. It has then survived the death of the process; after a
	// loss of power the last transactions may be missing, but none in the middle, unless Sync was called. One transaction runs at a time. ErrReadOnly
	// says that the volume cannot be changed.
	Update(ctx context.Context, fn func(tx Tx) error) error
	// Sync returns when all transactions that were committed before survive the loss of power.
	Sync(ctx context.Context) error
	// Hold keeps an inode, and its content, even if it loses its last name, until Release was called as often. Whoever found the
	// inode in a transaction that began before Hold looks again, in one that begins after it, whether it still has a name.
	Hold(ino Ino) error
	Release(ino Ino)
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

// A Tx is a write transaction. It keeps no invariant of docs/format.md but those that its methods name: the file system does. After an error of
// a method that changes something the transaction cannot be committed.
type Tx interface {
	Rx // Version returns 0: what is read can change, and is not to be kept
	// Insert adds an inode. It sets n.Ino to a number that no inode has, nor had while anybody who has the volume open could know it.
	Insert(n *Node) error
	// Put replaces an inode.
	Put(n *Node) error
	// Orphan says that an inode has lost its last name: see S6. It sets n.Nlink to 0 and replaces the inode.
	Orphan(n *Node) error
	// Adopt takes back Orphan: the inode is about to get a name. It replaces the inode with n,
	// whose Nlink the caller has set. The caller must hold the inode, or have orphaned it in this
	// transaction.
	Adopt(n *Node) error
	// Link adds an entry to a directory, or replaces the one of that name.
	Link(dir Ino, e Entry) error
	// Unlink removes an entry.
	Unlink(dir Ino, name string) error
	// WriteAt writes p to the content of n from off on, which need not lie within it, and sets n.Size and n.Holes. The caller puts n. Beyond
	// MaxSize it fails with ErrTooLarge, and nothing has changed.
	WriteAt(n *Node, p []byte, off int64) error
	// Truncate cuts the content of n off, or adds a hole, and sets n.Size and n.Holes. The caller puts n. It fails as WriteAt does.
	Truncate(n *Node, size int64) error
	// SetXattr sets an extended attribute, or removes it if value is nil.
	SetXattr(ino Ino, name string, value []byte) error
}
