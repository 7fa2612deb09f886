package store

import (
	"context"
	"io"
	"time"
)

// Features are the optional parts of a Store. A part is nil if the store lacks it.
//
// Transactions have optional parts, too, which a type assertion finds. An Rx may be an AheadReader,
// a PastReader or a PastRx, and a Tx a Cloner, a TreeCloner or a HolePuncher.
type Features struct {
	// Opened has Path and LastIno as they were when the store was opened, so that opening a volume
	// need not ask; nil if Info tells them.
	Opened *Info

	Batcher     Batcher      // small changes of many goroutines share a transaction
	Walker      Walker       // the store is on another machine
	Recaller    Recaller     // readers may see the volume as it was a short time ago
	Observer    Observer     // reports changes of other users
	Maintainer  Maintainer   // it can be compacted, copied and repaired
	Snapshotter Snapshotter  // it keeps states of the volume
	Objects     ObjectKeeper // it may keep large contents outside of its database

	// MaxStaleness is how long a reader may use an answer without asking again, though others may
	// have changed the volume; 0 means not at all.
	MaxStaleness time.Duration
	// MaxSize is how many bytes the file of the volume may have; 0 means any number.
	MaxSize int64
	// PartSize is how many bytes should be written at once of a content whose length is not known,
	// once it has turned out to be long, and how many should be read at once of a content that goes
	// to a writer. 0 means as many as usual.
	PartSize int
}

// A Batcher is a Store that carries out small changes of many goroutines together.
//
// It is an interface of its own because a Store need not be one: Update does the same, for one
// change at a time.
type Batcher interface {
	// Batch does the same as Update, but fn may share its transaction with the functions of other
	// calls. They may run before fn and after it, and fn may run on the goroutine of another
	// caller. If the common transaction must be rolled back, fn runs once more, in a transaction of
	// its own. So fn must not add up results outside tx, must be short, and must not wait for
	// another goroutine.
	Batch(fn func(tx Tx) error) error
}

// A Walker is a Store on another machine: each question to it takes a round trip. A caller tells it
// beforehand which paths it is about to look up, so that it answers all these questions at once. It
// need not: a path is only a hint for read-ahead, and changes no result.
//
// It is an interface of its own because a Store at hand gains nothing by it.
type Walker interface {
	// BeginAt is Begin, and reads the entries and inodes on a path ahead. It may spare the
	// transaction if the caller does not need all that a transaction can read.
	BeginAt(ctx context.Context, p Path, need Need) (Rx, error)
	// Changed reports whether a read has failed because the volume has changed since rx began. That
	// happens only with NeedMore.
	Changed(rx Rx) bool
	// BatchAt is Batcher.Batch for an fn that is about to look up these paths. The paths of all
	// calls that share a transaction are read together.
	BatchAt(fn func(tx Tx) error, paths ...Path) error
}

// A Recaller is a Store whose user allows readers to see the volume as it was a short time ago, so
// that they need not ask the server. It is an interface of its own because a Store at hand gains
// nothing by it.
type Recaller interface {
	// RecentVersion returns the version of a snapshot that was the newest one a short time ago,
	// and that has all changes of this Store that have returned. ok is false if there is none.
	RecentVersion() (version uint64, ok bool)
}

// An Observer is a Store that tells one caller, the observer, the changes of all other users: other
// processes, and other users of the Store. The observer keeps answers of the Store elsewhere. For
// example, the kernel keeps the names and contents of a volume that is mounted.
//
// It is an interface of its own because a Store need not be one. Then the observer can only compare
// versions, and each change may have changed anything.
type Observer interface {
	// Observe begins to note the changes of other users.
	Observe() error
	// Pending reports whether Observed would return a change, or cannot be sure that it would not.
	// It costs some nanoseconds.
	Pending() bool
	// Observed begins a read transaction, and returns the inodes and names their changes may have
	// touched since the last call, up to the snapshot of the transaction.
	Observed() (Rx, Changes, error)
	// Reap removes the inodes without a name that no process has pinned. While there is an
	// observer, other processes leave those to it that have lost their name in the last two
	// seconds, so that it can pin them.
	Reap() error
	// UpdateKnown is Update, and BatchKnown is Batcher.Batch, for changes of the observer itself,
	// which Observed leaves out. They may be in its results all the same. If ctx is cancelled while
	// they wait for other writers, they return its error, and nothing has happened.
	UpdateKnown(ctx context.Context, fn func(tx Tx) error) error
	BatchKnown(ctx context.Context, fn func(tx Tx) error) error
	// ContentPages calls fn with runs of pages that hold the content of an inode between two
	// offsets: the first page of a run, and how many pages follow each other. A page that holds
	// content of several inodes is left out.
	ContentPages(rx Rx, ino Ino, start, end int64, fn func(first uint32, n int)) error
}

// A Maintainer is a Store that lets the volume be kept in shape as a whole. Not every Store is one.
type Maintainer interface {
	// Compact makes the volume as small as it can be. Inodes keep their numbers and their pins. It
	// needs the volume for itself: while another process has it open it fails, and nothing has
	// changed.
	Compact(ctx context.Context, o *CompactOptions) error
	// Backup writes to w a copy of the volume as it is at one moment, while other goroutines and
	// processes continue to write.
	Backup(ctx context.Context, w io.Writer) error
	// BackupFile writes such a copy to a file at path. The file appears complete and durable, or
	// not at all. An existing file gives fs.ErrExist unless o.Replace is set.
	BackupFile(ctx context.Context, path string, o *BackupOptions) error
	// Repair corrects the problems that Check finds, as far as that loses no content. It does so in
	// one transaction.
	Repair(ctx context.Context) (*RepairReport, error)
	// Stats tells how the volume stands, without reading any of it.
	Stats() Stats
}

// A Snapshotter is a Store that can keep states of its volume. Not every Store is one.
type Snapshotter interface {
	// Snapshot gives the state of the volume a name. It returns ErrSnapshotExists if a snapshot has
	// that name, and ErrSnapshotName if none can have it. It costs the same whatever the volume
	// holds.
	Snapshot(ctx context.Context, name string) (Snapshot, error)
	// Snapshots returns the snapshots, the oldest first.
	Snapshots(ctx context.Context) ([]Snapshot, error)
	// RemoveSnapshots removes snapshots, or none, with ErrNoSnapshot, if one of them does not
	// exist. An ID of 0 stands for whichever has the name. Any other must be right, too: another
	// process may have removed the snapshot and made one of its name. Nobody sees them any more
	// when RemoveSnapshots returns, and everything kept only for them is gone; if the process dies
	// before, a later call removes the rest.
	RemoveSnapshots(ctx context.Context, list ...Snapshot) error
	// At returns a Store that reads the volume as it was when the snapshot was made, and that
	// refuses to change it with ErrReadOnly. It ends when the Store does that it comes from. From
	// when the snapshot is removed, Begin returns ErrNoSnapshot.
	At(ctx context.Context, name string) (Store, error)
	// Compare calls fn with two states of the volume at one moment, and with the inodes and names
	// that may differ between them. A state is a snapshot, or the volume as it is if the name is
	// "".
	Compare(ctx context.Context, from, to string, fn func(from, to Rx, d *Differences) error) error
}

// An ObjectKeeper is a Store that can keep large contents as objects outside of its database. Not
// every Store is one.
type ObjectKeeper interface {
	// Objects reports the volume's objects in the bucket.
	Objects(ctx context.Context) (ObjectInfo, error)
	// GC removes objects that nothing needs any more.
	GC(ctx context.Context, o *GCOptions) (*GCReport, error)
}

// A PastReader is an Rx, or a Tx, that reads snapshots, too. Not every Rx is one.
type PastReader interface {
	// At returns a transaction that reads the volume as it was when the snapshot was made. It sees
	// the snapshots of the moment of the transaction that it comes from, and ends with that. It
	// returns ErrNoSnapshot if there is none of that name.
	At(name string) (Rx, error)
}

// A PastRx is an Rx of a snapshot that knows the changes since then.
type PastRx interface {
	Rx
	// Unchanged reports whether an inode is as it was when the snapshot was made, with its content
	// and extended attributes. It may report false of one that is.
	Unchanged(ino Ino) (bool, error)
}

// An AheadReader is a transaction of a Walker.
type AheadReader interface {
	// ReadAhead reads the entries and inodes on some paths, so that Lookup and Node need not.
	ReadAhead(paths ...Path) error
}

// A Cloner is a write transaction in which files can share their content, or receive the content of
// another without the caller's help. A Tx may lack this method.
type Cloner interface {
	// CloneContent gives the inode to the content of from, a regular file. The caller has added it
	// in this transaction, by Insert, and nothing was written to it. The caller gives it the size
	// and the holes of from. What is written to one of the two files later does not change the
	// other.
	CloneContent(from *Node, to Ino) error
}

// A TreeCloner is a write transaction that clones a tree as a whole, as its store is on another
// machine. A Tx may lack this method.
type TreeCloner interface {
	// CloneTree adds copies of an inode, which is no orphan, and of all that is in it if it is a
	// directory: attributes, extended attributes, entries and contents. The copies have the given
	// ctime, and the copy of the inode, which it returns, has no name yet. Files with several names
	// in the tree stay such files, with no names elsewhere.
	CloneTree(from Ino, ctime int64) (Ino, error)
}

// A HolePuncher is a write transaction that can make a part of a content a hole. A Tx may lack this
// method: zeros can be written in its place.
type HolePuncher interface {
	// PunchHole makes size bytes of the content of n from off on read as zeros, and sets n.Holes.
	// It gives back the room of whole chunks. The range must lie within the content. The caller
	// puts n.
	PunchHole(n *Node, off, size int64) error
}
