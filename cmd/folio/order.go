package main

import (
	"cmp"
	"slices"
)

// A listOrder is how ls sorts the entries of a directory, which come sorted by name.
type listOrder struct {
	time, size, reverse bool
}

// needNode reports whether names are not enough to sort by.
func (o *listOrder) needNode() bool { return o.time || o.size }

func (o *listOrder) sort(entries []entry) {
	switch {
	case o.size:
		slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(b.node.Size, a.node.Size) })
	case o.time:
		slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(b.node.Mtime, a.node.Mtime) })
	}
	if o.reverse {
		slices.Reverse(entries)
	}
}
