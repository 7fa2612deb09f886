package overlay

import "github.com/foliofs/folio/internal/posix"

// ErrBaseChanged says that a file of the base is another one than that of which a part was copied,
// or than that which was about to be read.
var ErrBaseChanged = posix.Stale("the file of the base has changed below the overlay")
