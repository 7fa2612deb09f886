package store

import "context"

// A Path is one that a transaction is about to look up: names from a directory on, with slashes
// between them.
type Path struct {
	Top  Ino
	Name string
}

// A Walker is a Store on another machine: each question to it takes a round trip. A caller tells it
// beforehand which paths it is about to look up, so that it answers all these questions at once. It
// need not: a path only says what to read ahead, and changes no result.
//
// It is an interface of its own because a Store at hand gains nothing by it.
type Walker interface {
	// BeginAt is Begin, and reads the entries and inodes on a path ahead. It may spare the
	// transaction if the caller does not need all that a transaction can read.
	BeginAt(ctx context.Context, p Path, need Need) (Rx, error)
	// BatchAt is Batcher.Batch for an fn that is about to look up these paths. Those of all calls
	// that share a transaction are read together.
	BatchAt(fn func(tx Tx) error, paths ...Path) error
}

// A Need is what a caller of Walker.BeginAt reads through the transaction.
type Need uint8

// Needs.
const (
	NeedAll     Need = iota // anything
	NeedNode                // the path, and where a symbolic link leads
	NeedContent             // that, and the whole content of the file there
)

// A Recaller is a Store whose user allows readers to see the volume as it was a short time ago, so
// that they need not ask the server. It is an interface of its own because a Store at hand gains
// nothing by it.
type Recaller interface {
	// RecentVersion returns the version of a snapshot that was the newest one a short time ago,
	// and that has all changes of this Store that have returned. ok is false if there is none.
	RecentVersion() (version uint64, ok bool)
}

// An AheadReader is a transaction of a Walker.
type AheadReader interface {
	// ReadAhead reads the entries and inodes on some paths, so that Lookup and Node need not.
	ReadAhead(paths ...Path) error
}
