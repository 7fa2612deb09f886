package overlay

import (
	"io/fs"
	"sync/atomic"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/release"
)

// Options say how an overlay works. The zero value, and nil, are good defaults.
type Options struct {
	// Describe, if it is not nil, sets the fields of a base file's FileInfo besides its type,
	// permissions, size and time of modification: owner, device number, other times.
	Describe func(info fs.FileInfo, n *store.Node)
	// CopyWholeFile copies all of a content with its inode, so that the upper store can be read
	// without the base.
	CopyWholeFile bool
	// BaseChanges says that the base may change while the overlay is open. Then no answer is kept
	// for the next call: Version is not known.
	BaseChanges bool
	// KeepUpper lets Close leave the upper store open.
	KeepUpper bool
}

// layers are the two layers of an overlay, as its transactions use them.
type layers struct {
	upper   store.Store
	base    base
	options Options
	numbers numbers
	seq     atomic.Uint64 // counts the write transactions that are committed
	gate    release.Gate
}
