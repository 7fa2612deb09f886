package pgstore

import (
	"errors"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/foliofs/folio/store"
)

// numbers are those for new inodes. The server gives them in blocks, each once, so that Stores do
// not wait for each other. Numbers that a Store has left when it is closed are never used.
type numbers struct {
	mu        sync.Mutex // guards the fields below
	next, end int64      // the block
}

const numberBlock = 1000 // the increment of sequence ino

// left returns how many numbers there are.
func (b *numbers) left() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return int(b.end - b.next)
}

// take returns a number. ok is false if there is none left.
func (b *numbers) take() (ino store.Ino, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next >= b.end {
		return 0, false
	}
	b.next++
	return store.Ino(b.next - 1), true
}

// leave leaves the block if its numbers were given twice: a server that crashes, or whose standby
// takes over, may forget that it has given a block to a transaction that did not commit.
func (b *numbers) leave(err error) {
	if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != codeUnique || e.ConstraintName != "node_pkey" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = b.end
}

// step returns a statement that gets a block.
func (b *numbers) step() step {
	return step{statement: nextNumbers, row: func(v [][]byte) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.next = number(v[0])
		b.end = b.next + numberBlock
	}}
}
