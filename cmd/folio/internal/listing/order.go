package listing

import (
	"cmp"
	"slices"
)

// An Order is how ls sorts the entries of a directory, which come sorted by name.
type Order struct {
	Time, Size, Reverse bool
}

// NeedNode reports whether names are not enough to sort by.
func (o *Order) NeedNode() bool { return o.Time || o.Size }

// Sort sorts the entries of a directory.
func (o *Order) Sort(entries []Entry) {
	switch {
	case o.Size:
		slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(b.Node.Size, a.Node.Size) })
	case o.Time:
		slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(b.Node.Mtime, a.Node.Mtime) })
	}
	if o.Reverse {
		slices.Reverse(entries)
	}
}
