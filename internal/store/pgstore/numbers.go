package pgstore

import (
	"errors"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/foliofs/folio/internal/store"
)

// numbers are those for new inodes. The server gives them in blocks, each once, so that Stores do
// not wait for each other. Numbers that a Store has left when it is closed are never used.
type numbers struct {
	mu        sync.Mutex // guards the fields below
	next, end int64      // the block in use
	later     []int64    // the first numbers of blocks that come next
}

const numberBlock = 1000 // the increment of sequence ino

// left returns how many numbers there are.
func (b *numbers) left() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return int(b.end-b.next) + len(b.later)*numberBlock
}

// take returns a number. ok is false if there is none left.
func (b *numbers) take() (ino store.Ino, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next >= b.end && len(b.later) > 0 {
		b.next, b.end, b.later = b.later[0], b.later[0]+numberBlock, b.later[1:]
	}
	if b.next >= b.end {
		return 0, false
	}
	b.next++
	return store.Ino(b.next - 1), true
}

// leave leaves all blocks if numbers were given twice: a server that crashes, or whose standby
// takes over, may forget that it has given a block to a transaction that did not commit.
func (b *numbers) leave(err error) {
	if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != codeUnique || e.ConstraintName != "node_pkey" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next, b.later = b.end, nil
}

// step returns a statement that gets at least n numbers.
func (b *numbers) step(n int) step {
	blocks := int64(n+numberBlock-1) / numberBlock
	return step{statement: nextNumbers, args: []any{blocks}, row: func(v [][]byte) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.later = append(b.later, number(v[0]))
	}}
}
