package pager

import (
	"sync/atomic"
)

// turns say which goroutine runs a transaction, and which one commits a group.
type turns struct {
	core       *core
	writeLock  chan struct{} // holds one token; its holder runs a transaction
	commitLock chan struct{} // holds one token; its holder commits a group
	callers    atomic.Int64  // how many calls are in Update
	runs       atomic.Uint64 // how many transactions have begun or ended: odd while one runs
}
