package serve

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/foliofs/folio"
)

// A Source is a volume, or a directory in it, that is served.
type Source struct {
	Name     string // the first element of its URLs, if several are served
	Dir      string // the directory of the volume; "" or "." for all of it
	ReadOnly bool
	// File is the volume's file on disk, if it has one. A server opens the volume again when
	// another file takes its place.
	File string
	// Open opens the volume, and returns how it is closed.
	Open func() (vol *folio.Volume, closeVolume func() error, err error)
}

// Options say how volumes are served.
type Options struct {
	Sources []Source
	Write   bool     // let clients change the volumes
	Base    string   // the start of all URLs, for example "/files"
	Hosts   []string // names in the Host header that are accepted besides addresses and localhost
	Users   *Users   // nil lets everybody in
	Rights  *Rights  // nil gives each user the same rights
	Index   bool     // show index.html in place of a directory that has one

	Trash   time.Duration // how long removed files are kept; 0 means that they are removed at once
	MaxBody int64         // bytes of one upload; 0 means no limit

	// TrustedProxies are the proxies whose X-Forwarded-For is believed: the log names that client,
	// and wrong passwords and requests at once count for it. [ParseProxy] reads them.
	TrustedProxies []netip.Prefix

	Logger  *slog.Logger // of requests; nil logs nothing
	Notices *slog.Logger // messages for the operator; nil means Logger
}
