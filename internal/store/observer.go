package store

import "context"

// An Observer is a Store that tells one caller, the observer, what all other users have changed:
// other processes, and other users of the Store. The observer keeps answers of the Store elsewhere.
// For example, the kernel keeps the names and contents of a volume that is mounted.
//
// It is an interface of its own because a Store need not be one. Then the observer can only compare
// versions, and each change may have changed anything.
type Observer interface {
	// Observe begins to note the changes of other users.
	Observe() error
	// Pending reports whether Observed would return a change, or cannot be sure that it would not.
	// It costs some nanoseconds.
	Pending() bool
	// Observed begins a read transaction, and returns what their changes may have touched
	// since the last call, up to the snapshot of the transaction.
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

// Changes say what may have changed in a volume. Everything that did change is among it, and with
// it neighbours that did not.
type Changes struct {
	All      bool // anything may have changed; the rest is empty
	Nodes    []InoSpan
	Entries  []EntrySpan
	Contents []InoSpan
	Pages    []uint32 // content in these pages, as ContentPages tells them
}

// None reports whether nothing has changed.
func (c *Changes) None() bool {
	return !c.All && len(c.Nodes)+len(c.Entries)+len(c.Contents)+len(c.Pages) == 0
}

// An InoSpan is a range of inodes, both ends included.
type InoSpan struct{ First, Last Ino }

// An EntrySpan is a range of entries, from Low to High, both included.
type EntrySpan struct {
	Low, High EntryKey
	Wide      bool // the range is long, and it is unlikely that anything in it has changed
}

// An EntryKey is the place of an entry in the order of all entries: by directory, then by the bytes
// of the name.
type EntryKey struct {
	Dir  Ino
	Name string
}

// Less reports whether k comes before other.
func (k EntryKey) Less(other EntryKey) bool {
	if k.Dir != other.Dir {
		return k.Dir < other.Dir
	}
	return k.Name < other.Name
}
