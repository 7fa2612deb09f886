package crashfs

import (
	"math"

	"github.com/foliofs/folio/internal/osfile"
)

const maxOffset = math.MaxInt64

// A lock is held by one handle on the bytes from start to end. The locks of one handle do not
// overlap.
type lock struct {
	owner      *handle
	kind       osfile.LockKind
	start, end int64
}

// conflict reports whether another handle holds a lock that excludes one of this kind.
func (i *inode) conflict(owner *handle, kind osfile.LockKind, start, end int64) bool {
	for _, l := range i.locks {
		if l.owner != owner && l.start < end && start < l.end && (l.kind == osfile.Exclusive || kind == osfile.Exclusive) {
			return true
		}
	}
	return false
}

// unlock drops the locks of owner between start and end, and keeps the rest of its locks.
func (i *inode) unlock(owner *handle, start, end int64) {
	var kept []lock
	for _, l := range i.locks {
		if l.owner != owner || l.end <= start || end <= l.start {
			kept = append(kept, l)
			continue
		}
		if l.start < start {
			kept = append(kept, lock{owner, l.kind, l.start, start})
		}
		if end < l.end {
			kept = append(kept, lock{owner, l.kind, end, l.end})
		}
	}
	i.locks = kept
}
