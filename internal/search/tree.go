package search

import (
	"sync/atomic"

	"github.com/foliofs/folio/internal/pager"
	"github.com/foliofs/folio/internal/record"
)

// An Rx is a read transaction that finds its way in b-trees.
type Rx struct{ pager.Rx }

// A Tree is the b-tree of a table or an index.
type Tree struct {
	Root     uint32
	Key      []record.KeyColumn // the order of the records of an index, or of a table WITHOUT ROWID; else nil
	interior atomic.Pointer[interior]
}
