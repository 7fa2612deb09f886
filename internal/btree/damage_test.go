package btree

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/invariant"
)

// A guarded memory counts how many pages are asked for, so that no change runs forever.
type guarded struct {
	*memory
	left int
}

var errPages = errors.New("too many pages asked for")

func (g *guarded) Page(pgno uint32) ([]byte, error) {
	if g.left--; g.left < 0 {
		return nil, errPages
	}
	return g.memory.Page(pgno)
}

func (g *guarded) Writable(pgno uint32) ([]byte, error) { return g.Page(pgno) }

// harm changes a few bytes, mostly where the structure is.
func harm(r *rand.Rand, m *memory) {
	pgno := 1 + r.Uint32N(m.PageCount())
	page, err := m.Page(pgno)
	if err != nil {
		return
	}
	off := r.IntN(len(page) - 4)
	at := format.PageHeaderAt(pgno)
	switch n, ok := ParseNode(page, pgno); r.IntN(4) {
	case 0:
		off = at + r.IntN(12)
	case 1:
		if ok && n.Cells > 0 {
			off = n.array + 2*r.IntN(n.Cells)
		}
	case 2:
		if ok && n.Cells > 0 {
			off = min(n.Offset(r.IntN(n.Cells)), len(page)-4)
		}
	}
	switch r.IntN(5) {
	case 0:
		page[off] = byte(r.Uint32())
	case 1:
		page[off] ^= 1 << r.IntN(8)
	case 2:
		binary.BigEndian.PutUint16(page[off:], uint16(r.IntN(len(page))))
	case 3:
		binary.BigEndian.PutUint32(page[off:], 1+r.Uint32N(m.PageCount()+2))
	case 4:
		copy(page[off:], []byte{0xff, 0xff, 0xff, 0xff}[:1+r.IntN(4)])
	}
}

// abuse changes trees in a damaged database. Errors are expected, all of them corruption.
func abuse(t *testing.T, d *treeModel, steps int) {
	g := &guarded{memory: d.m}
	g.Freelist.source = g
	d.table.store, d.keyed.store = g, g
	for range steps {
		g.left = 20000
		if err := abuseOnce(d, g); err != nil && !errors.Is(err, dberr.ErrCorrupt) {
			t.Fatal(err)
		}
	}
}

func abuseOnce(d *treeModel, g *guarded) (err error) {
	rowid, payload := d.rowid(), makeRecord([]byte(d.name()), d.bytes(d.size()))
	switch d.r.IntN(24) {
	case 0, 1, 2, 3:
		_, err = d.table.putRow(rowid, payload)
	case 4, 5, 6, 7:
		_, err = d.table.DeleteRow(rowid)
	case 8, 9, 10, 11:
		_, err = d.keyed.PutKey(payload)
	case 12, 13, 14, 15:
		_, err = d.keyed.DeleteKey(payload)
	case 16, 17:
		_, err = d.table.InsertRow(rowid, payload)
	case 18, 19:
		var added bool
		if added, err = d.keyed.InsertKey(payload, 1); !added && err == nil {
			_, err = d.keyed.Entry()
		}
	case 20:
		_, err = d.table.deleteRange(rowid, rowid+int64(d.r.IntN(1000)))
	case 21:
		_, _, err = d.table.LastRowid()
	case 22:
		err = g.Freelist.Vacuum(d.r.IntN(3))
		if d.r.IntN(4) == 0 {
			err = errors.Join(err, g.Freelist.Vacuum(math.MaxInt))
		}
	case 23:
		if d.r.IntN(10) > 0 {
			return nil
		}
		_, err = d.keyed.clear()
		if d.r.IntN(2) == 0 {
			_, err = g.Freelist.CreateRoot(format.LeafTable)
		}
	}
	return err
}

// TestDamage changes trees in databases with bytes that are wrong: no panic, no change that does
// not end, and no other error than corruption.
func TestDamage(t *testing.T) {
	t.Parallel()
	rounds := 1500
	if testing.Short() || invariant.Enabled {
		rounds = 200
	}
	seed := uint64(time.Now().UnixNano())
	for round := range uint64(rounds) {
		damageOnce(t, seed+round)
	}
}

func damageOnce(t *testing.T, seed uint64) {
	t.Helper()
	defer func() {
		if v := recover(); v != nil {
			t.Logf("seed %d", seed)
			panic(v)
		}
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	r := rand.New(rand.NewPCG(seed, 1))
	sizes := [...]int{512, 512, 512, 512, 512, 1024, 1024, 1024, 4096, 65536}
	d := newTreeModel(t, seed, sizes[r.IntN(len(sizes))], 0, r.IntN(3))
	for range 100 + r.IntN(500) {
		d.step(true)
	}
	for range 1 + r.IntN(6) {
		harm(r, d.m)
	}
	abuse(t, d, 60)
}

// FuzzDamage does what TestDamage does, with damage that the fuzzer chooses: for each four bytes a
// page, an offset and a value.
func FuzzDamage(f *testing.F) {
	f.Add(uint64(1), []byte{0, 3, 105, 7})
	f.Add(uint64(2), []byte{0, 0, 5, 0, 0, 5, 1, 255})
	f.Fuzz(func(t *testing.T, seed uint64, damage []byte) {
		r := rand.New(rand.NewPCG(seed, 1))
		d := newTreeModel(t, seed, 512, 0, r.IntN(3))
		for range 300 {
			d.step(true)
		}
		for ; len(damage) >= 4; damage = damage[4:] {
			if page, err := d.m.Page(uint32(damage[0]) + 1); err == nil {
				page[(int(damage[1])<<8|int(damage[2]))%len(page)] = damage[3]
			}
		}
		abuse(t, d, 60)
	})
}
