package pager

import (
	"cmp"
	"context"
	"sync"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/wal"
)

// A group is the transactions that are committed at once.
type group struct {
	pgnos   []uint32          // once sealed, in order and each once
	count   int               // of transactions
	reserve bool              // one of them removes only: see UseReserve
	unknown bool              // one of them is not marked: see MarkKnown
	synced  bool              // one of them needs a sync: see RequireSync
	ctxs    []context.Context // of these, in rollback mode, where a commit waits for readers

	// Once sealed:
	pages []wal.Page
	size  uint32   // of the database
	tail  wal.Tail // the frames that its only transaction spilled

	header format.WALIndexHeader // once it is in the log

	writing sync.WaitGroup // while the write lock is lent, until next, err and unread are there
	next    *Snapshot      // that has it
	calls   []*outcome     // over when it is
	done    chan struct{}  // closed when the other transactions behind the first may go; nil if there are none
	err     error          // it is not committed
	unread  error          // it is committed, but the database cannot be read as it is now: there is no next
	over    bool           // publish was called
}

// broken returns why nothing can be built on the group.
func (g *group) broken() error { return cmp.Or(g.err, g.unread) }

// wake lets the transactions behind the first go. The first looks at over.
func (g *group) wake() {
	for _, e := range g.calls {
		e.err = cmp.Or(g.err, e.err)
		e.over <- struct{}{}
	}
	if g.done != nil {
		close(g.done)
	}
}

// groups are the transactions that wait to be committed.
type groups struct {
	open   *group
	flight *group // the sealed group that is being committed
	spare  *group // to be used again
}

// numbers returns the numbers of the pages of a sealed group.
func (g *group) numbers() []uint32 {
	pgnos := make([]uint32, len(g.pages))
	for i := range g.pages {
		pgnos[i] = g.pages[i].Pgno
	}
	return pgnos
}

// An outcome is the result of a call that waits for its turn.
type outcome struct {
	over     chan struct{} // gets a value once the caller may go on
	lead     *group        // for its caller to commit, as the first of it
	err      error
	panicked any  // the value that the work panicked with; its caller panics with it
	exited   bool // fn ended its goroutine; its caller ends as well
}
