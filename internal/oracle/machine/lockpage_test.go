package machine

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/foliofs/folio/sqlitefile"
)

var lockRuns = flag.Int("machine.sparse", 8, "databases that grow across the lock page at 1 GiB")

// lockOffset is where the bytes lie that SQLite locks. Their page is never used.
const lockOffset = 1 << 30

// A span is a range of unused pages that were never written, from low to high. It makes a database
// large that takes no room on the disk.
type span struct{ low, high uint32 }

// TestLockPage has ours and C write in turn to databases that grow across the lock page.
func TestLockPage(t *testing.T) {
	t.Parallel()
	needC(t)
	var sum totals
	var mu sync.Mutex
	crossed := 0
	failed := each(t, *lockRuns, func(n uint64) error {
		m := newSparse(n)
		err := m.play()
		mu.Lock()
		defer mu.Unlock()
		sum.add(m.totals)
		if m.crossed {
			crossed++
		}
		return err
	})
	t.Logf("%d databases from seed %d on, %d of them across the lock page: %d operations, %d transactions, %d comparisons",
		*lockRuns, *first, crossed, sum.ops, sum.transactions, sum.comparisons)
	for _, n := range failed {
		t.Errorf("-machine.seed %d: %s", n, shrink(func() *machine { return newSparse(n) }))
	}
	if crossed < *lockRuns/2 {
		t.Errorf("only %d databases grew across the lock page", crossed)
	}
}

func newSparse(seed uint64) *machine {
	w := turnWeights
	w[opIncremental] = 0
	w[opMany] = 20
	r := rand.New(rand.NewPCG(seed, 5))
	m := &machine{setup: randomSetup(r), ops: randomOps(r, 150, &w), random: rand.New(rand.NewPCG(seed, 6)), turns: true, every: 20, smaller: true}
	m.setup.pageSize = []int{512, 4096, 16384, 65536}[seed%4]
	m.setup.vacuum = pick(r, []int{0, 2}) // in mode 1 each transaction would give the unused pages back
	m.lockPage = uint32(lockOffset/m.setup.pageSize) + 1
	return m
}

// ptrmaps reports whether a page is a pointer map.
func (s setup) ptrmap(pgno uint32) bool {
	return s.vacuum > 0 && pgno >= 2 && (pgno-2)%uint32((s.pageSize-s.reserved)/5+1) == 0
}

// stretch makes the database end shortly before the lock page.
func (m *machine) stretch() error {
	f, err := os.OpenFile(m.path(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := int64(m.setup.pageSize)
	m.unused = span{uint32(info.Size()/size) + 1, m.lockPage - 1 - uint32(m.random.IntN(6))}
	for m.setup.ptrmap(m.unused.high) { // no database ends with one
		m.unused.high--
	}
	if err := errors.Join(m.freeEntries(f), putWords(f, 28, m.unused.high)); err != nil {
		return err
	}
	return f.Truncate(int64(m.unused.high) * size)
}

// ballast makes a table at the beginning of the file, where auto-vacuum wants to have new roots.
// Auto-vacuum then moves the pages of this table, and not the pages of the span, which have no real
// content.
func (m *machine) ballast() string {
	return fmt.Sprintf("CREATE TABLE ballast(x); INSERT INTO ballast VALUES(zeroblob(%d))", 80*m.setup.pageSize)
}

// freeEntries writes the pointer-map entries of free pages for those that are unused.
func (m *machine) freeEntries(f *os.File) error {
	for pgno := m.unused.low; pgno <= m.unused.high && m.setup.vacuum > 0; {
		perMap := uint32((m.setup.pageSize - m.setup.reserved) / 5)
		at := (pgno-2)/(perMap+1)*(perMap+1) + 2 // the map of the page
		if pgno == at {
			pgno++
		}
		last := min(at+perMap, m.unused.high)
		entries := make([]byte, 5*(last+1-pgno))
		for i := 0; i < len(entries); i += 5 {
			entries[i] = 2
		}
		if _, err := f.WriteAt(entries, int64(at-1)*int64(m.setup.pageSize)+5*int64(pgno-at-1)); err != nil {
			return err
		}
		pgno = last + 1
	}
	return nil
}

func putWords(f *os.File, off int64, words ...uint32) error {
	var b []byte
	for _, w := range words {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	_, err := f.WriteAt(b, off)
	return err
}

// release puts the unused pages on the freelist, before those that are there, which makes the
// database valid.
func (m *machine) release() error {
	f, err := os.OpenFile(m.path(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	var head [8]byte
	if _, err := f.ReadAt(head[:], 32); err != nil {
		return err
	}
	next, count := binary.BigEndian.Uint32(head[:]), binary.BigEndian.Uint32(head[4:])
	room := (m.setup.pageSize-m.setup.reserved)/4 - 8
	for pgno := m.unused.high; pgno >= m.unused.low; {
		var leaves []uint32
		for ; pgno > m.unused.low && len(leaves) < room; pgno-- {
			if !m.setup.ptrmap(pgno) {
				leaves = append(leaves, pgno)
			}
		}
		if m.setup.ptrmap(pgno) {
			pgno--
		}
		if pgno < m.unused.low {
			return fmt.Errorf("the unused pages begin with a pointer map")
		}
		words := append([]uint32{next, uint32(len(leaves))}, leaves...)
		if err := putWords(f, int64(pgno-1)*int64(m.setup.pageSize), words...); err != nil {
			return err
		}
		next, count = pgno, count+uint32(len(leaves))+1
		pgno--
	}
	m.unused = span{}
	return putWords(f, 32, next, count)
}

// finishSparse makes the database valid, compares all of it, and then makes it small.
func (m *machine) finishSparse() error {
	if err := m.compare(); err != nil {
		return err
	}
	if err := errors.Join(m.ours.Close(), m.closeOthers()); err != nil {
		return err
	}
	info, err := os.Stat(m.path())
	if err != nil {
		return err
	}
	m.crossed = info.Size() > lockOffset+int64(m.setup.pageSize)
	m.note("%d bytes", info.Size())
	if err := m.release(); err != nil {
		return err
	}
	if m.setup.vacuum > 0 {
		if err := m.vacuumAll(); err != nil {
			return err
		}
	}
	if err := errors.Join(m.openOurs(), m.openOthers()); err != nil {
		return err
	}
	if err := m.compare(); err != nil {
		return err
	}
	return m.dwindle()
}

// vacuumAll changes to full auto-vacuum: the next transaction gives all free pages back.
func (m *machine) vacuumAll() error {
	f, err := os.OpenFile(m.path(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(putWords(f, 64, 0), f.Close())
}

// dwindle has all free pages given back by ours or by C, and compares once more.
func (m *machine) dwindle() error {
	if m.setup.vacuum == 0 {
		if err := errors.Join(m.closeOthers(), m.ours.db.Compact(ctx, nil)); err != nil {
			return err
		}
		if err := m.openOthers(); err != nil {
			return err
		}
	}
	m.takeTurn()
	const sql = "CREATE TABLE last(x)"
	if _, _, err := m.both(func() string { return sql }, func(s side) (int64, error) { return 0, s.exec(sql) }); err != nil {
		return err
	}
	if err := m.compare(); err != nil {
		return err
	}
	if err := m.ours.db.Checkpoint(ctx, sqlitefile.CheckpointTruncate); err != nil {
		return err
	}
	info, err := os.Stat(m.path())
	if err == nil && info.Size() > 1<<28 {
		err = fmt.Errorf("%d bytes are left", info.Size())
	}
	return err
}
