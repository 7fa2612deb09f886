package pgstore

import (
	"context"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store/pgstore"
)

// Options say how a volume is opened. The zero value, and nil, are good defaults.
type Options struct {
	// ReadOnly opens the volume for reading. A file that is open through such a Store loses its
	// content when another Store removes it.
	ReadOnly bool
	// Create makes an empty volume if the database has none of that name.
	Create bool
	// Exclusive makes Create return an error that matches fs.ErrExist if the database has a volume
	// of that name. It saves two round trips.
	Exclusive bool
	// BusyTimeout is how long a change waits for changes of other Stores, and how long a call tries
	// to reach the server. 0 means 5 seconds.
	BusyTimeout time.Duration
	// MaxConns is how many connections the Store has at most. 0 means 16. A View and a Check keep
	// one each. If there are more of them than connections, they wait for each other. The Store
	// has one more for a moment when all are in use and it must show that it lives, and one more
	// with MaxStaleness.
	MaxConns int
	// MaxStaleness is how old the tree may be that readers see: 0, unless set, makes each call see
	// all changes whose calls have returned before, on any machine. With a second, a program that
	// asks for attributes and directories again and again makes one trip a second for them, as long
	// as nothing changes, and sees a change at the latest when that second is over. It sees its
	// own changes at once. Contents are always read from the server.
	MaxStaleness time.Duration
	// Lease is for how long the server keeps removed files that this Store had open, after it has
	// heard the last of it. 0 means 30 seconds.
	Lease time.Duration

	// Bucket is the address of a bucket of S3 for large contents, such as
	// s3://bucket/prefix?endpoint=https://s3.example&region=eu-1. The volume remembers the bucket
	// that it got first, and no other is accepted later; the parameters can differ. "" means the
	// parameter bucket of the volume's address, and then the bucket that the volume remembers.
	Bucket string
	// BucketTimeout is how long a request to the bucket may take, with its repetitions. 0 means 30
	// seconds.
	BucketTimeout time.Duration
	// CacheDir is a directory for a file in which the Store caches contents of the bucket. "" means
	// in memory.
	CacheDir string
	// CacheSize is how many bytes of the bucket the Store keeps. 0 means 64 MiB in memory, or 1 GiB
	// in CacheDir; less than 0 means none.
	CacheSize int64
	// SweepAfter is for how long an object stays in the bucket when nothing needs it any more. 0
	// means one hour.
	SweepAfter time.Duration
}

// Open opens the volume at an address, such as postgres://user@host/database?volume=photos.
//
// It returns an error that matches folio.ErrNotVolume if the database has no volume of that name,
// folio.ErrNewerVersion for a volume of a later version of the tables, and fs.ErrPermission if the
// server refuses the user. Errors are *fs.PathError.
//
// A volume that the role may only read, or that is on a standby server, is opened for reading.
func Open(ctx context.Context, url string, o *Options) (*folio.Volume, error) {
	if o == nil {
		o = new(Options)
	}
	s, err := pgstore.Open(ctx, url, (*pgstore.Options)(o))
	if err != nil {
		return nil, err
	}
	v, err := folio.OpenStore(private.Key{}, s, &folio.Options{BusyTimeout: o.BusyTimeout})
	if err != nil {
		_ = s.Close()
	}
	return v, err
}

// ErrUnknown says that it is not known whether a change has happened: the connection broke during
// the commit. The change has happened as a whole or not at all. If the server still works on it, it
// may also happen a moment later.
var ErrUnknown = pgstore.ErrUnknown

// IsAddress reports whether a name is the address of a volume on a server: it begins with
// postgres:// or postgresql://.
func IsAddress(name string) bool { return pgstore.Is(name) }

// ShownAddress returns the address of a volume as errors show it: without a password.
func ShownAddress(url string) string { return pgstore.Shown(url) }
