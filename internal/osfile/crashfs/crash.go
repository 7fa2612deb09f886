package crashfs

import (
	"fmt"
	"iter"
	"math/rand/v2"
)

// A Plan says how many images are made of a disk. Two images are always made: with all changes that
// were not synced, and with none of them.
type Plan struct {
	Seed    uint64
	Single  int // changes that are dropped, and torn in three ways, each alone; the last ones first
	Subsets int // random subsets of sectors, truncations and names
	Garbage int // random subsets with garbage in some sectors
	Names   int // changes of names that are lost alone, or there alone

	Share float64 // the share of these images, except the two that are always made, that chance takes; 0 takes all
}

// FullPlan is the plan that the reliability of a database is judged by.
func FullPlan(seed uint64) Plan {
	return Plan{Seed: seed, Single: 24, Subsets: 16, Garbage: 4, Names: 8}
}

// All returns the image with every write. All processes would find it if they died while the power
// stays on.
func (d *Disk) All() *Image { return d.image(d.all()) }

func (d *Disk) all() *fate { return d.fate(Whole, "all", allMoves, allWrites, 1) }

// None returns the image with nothing that was not synced.
func (d *Disk) None() *Image { return d.image(d.none()) }

func (d *Disk) none() *fate { return d.fate(Whole, "none", noMoves, noWrites, 0) }

// Images returns files that a crash can leave on the disk, by plan. Images may be alike.
func (d *Disk) Images(p Plan) iter.Seq[*Image] {
	rng := rand.New(rand.NewPCG(p.Seed, uint64(d.at)))
	return func(yield func(*Image) bool) {
		for t := range d.fates(p) {
			if p.Share > 0 && !t.always && rng.Float64() >= p.Share {
				continue
			}
			if !yield(d.image(t)) {
				return
			}
		}
	}
}

// Count returns how many images there would be, were Share 0.
func (d *Disk) Count(p Plan) (n int) {
	for range d.fates(p) {
		n++
	}
	return n
}

func (d *Disk) fates(p Plan) iter.Seq[*fate] {
	pending, moves := d.pending(), d.moved()
	return func(yield func(*fate) bool) {
		for _, part := range []iter.Seq[*fate]{
			d.wholeFates(len(pending), len(moves)), d.nameFates(p, moves), d.singleFates(p, pending),
			d.subsetFates(p, len(pending), len(moves)),
		} {
			for t := range part {
				if !yield(t) {
					return
				}
			}
		}
	}
}

func allMoves(*move) bool               { return true }
func noMoves(*move) bool                { return false }
func allWrites(*change, int) sectorFate { return kept }
func noWrites(*change, int) sectorFate  { return dropped }

func (d *Disk) fate(way Way, how string, moved func(*move) bool, wrote func(*change, int) sectorFate, words int) *fate {
	return &fate{way: way, how: how, moved: moved, wrote: wrote, words: words, rng: rand.New(rand.NewPCG(uint64(d.at), 0))}
}

// wholeFates keep all or nothing, names and content apart.
func (d *Disk) wholeFates(pending, moves int) iter.Seq[*fate] {
	return func(yield func(*fate) bool) {
		all, none := d.all(), d.none()
		all.always, none.always = true, true
		if !yield(all) || pending+moves == 0 {
			return
		}
		if !yield(none) || pending == 0 || moves == 0 {
			return
		}
		_ = yield(d.fate(Whole, "all names, no content", allMoves, noWrites, 1)) &&
			yield(d.fate(Whole, "all content, no names", noMoves, allWrites, 2))
	}
}

// nameFates lose or keep one change of names at a time, and all after one.
func (d *Disk) nameFates(p Plan, moves []move) iter.Seq[*fate] {
	return func(yield func(*fate) bool) {
		for i := max(0, len(moves)-p.Names); i < len(moves); i++ {
			op := moves[i].op
			what := d.history.ops[op-1].String()
			lose := func(m *move) bool { return m.op != op }
			only := func(m *move) bool { return m.op == op }
			before := func(m *move) bool { return m.op < op }
			ok := yield(d.fate(Names, "all but "+what, lose, allWrites, 1)) &&
				yield(d.fate(Names, "synced content, all but "+what, lose, noWrites, 3)) &&
				yield(d.fate(Names, "all content, only "+what, only, allWrites, 2)) &&
				yield(d.fate(Names, "all content, names before "+what, before, allWrites, 1))
			if !ok {
				return
			}
		}
	}
}

// singleFates drop or tear one change at a time, and keep the rest.
func (d *Disk) singleFates(p Plan, pending []change) iter.Seq[*fate] {
	return func(yield func(*fate) bool) {
		for i := max(0, len(pending)-p.Single); i < len(pending); i++ {
			c := &pending[i]
			what := d.history.ops[c.op-1].String()
			drop := func(o *change, _ int) sectorFate { return keptIf(o.op != c.op) }
			if !yield(d.fate(Dropped, "all but "+what, allMoves, drop, 1)) {
				return
			}
			for _, at := range tears(c.sectors()) {
				head := func(o *change, sector int) sectorFate { return keptIf(o.op != c.op || sector < at) }
				tail := func(o *change, sector int) sectorFate { return keptIf(o.op != c.op || sector >= at) }
				if !yield(d.fate(Torn, fmt.Sprintf("all but from sector %d of %s", at, what), allMoves, head, 1)) ||
					!yield(d.fate(Torn, fmt.Sprintf("all but up to sector %d of %s", at, what), allMoves, tail, 1)) {
					return
				}
			}
		}
	}
}

func keptIf(ok bool) sectorFate {
	if ok {
		return kept
	}
	return dropped
}

// tears returns where a change of so many sectors is torn: after the first, in the middle, before
// the last.
func tears(sectors int) (at []int) {
	for _, n := range []int{1, sectors / 2, sectors - 1} {
		if n > 0 && n < sectors && (len(at) == 0 || at[len(at)-1] < n) {
			at = append(at, n)
		}
	}
	return at
}

// subsetFates keep a random part: in some images of the changes, in others of the sectors.
func (d *Disk) subsetFates(p Plan, pending, moves int) iter.Seq[*fate] {
	return func(yield func(*fate) bool) {
		if pending+moves == 0 {
			return
		}
		for n := range p.Subsets + p.Garbage {
			if pending == 0 && n >= p.Subsets {
				return // there is nothing to spoil
			}
			if !yield(d.chance(p.Seed, n, n >= p.Subsets)) {
				return
			}
		}
	}
}

// chance returns the n-th random fate.
func (d *Disk) chance(seed uint64, n int, garbage bool) *fate {
	rng := rand.New(rand.NewPCG(seed, uint64(d.at)<<16|uint64(n)))
	share, spoil := rng.Float64(), 0.0
	way, how := Subset, fmt.Sprintf("random %d of seed %d", n, seed)
	if garbage {
		way = Garbage
		share, spoil = 0.5+rng.Float64()/2, 0.1+rng.Float64()/2
		how = "garbage, " + how
	}
	bySector := garbage || n%2 == 1
	last := struct {
		op   int
		fate sectorFate
	}{}
	t := &fate{way: way, how: how, words: n % 4, rng: rng, moved: func(*move) bool { return rng.Float64() < share }}
	t.wrote = func(c *change, _ int) sectorFate {
		if last.op == c.op && !bySector {
			return last.fate
		}
		last.op, last.fate = c.op, keptIf(rng.Float64() < share)
		if last.fate == kept && c.kind == Write && rng.Float64() < spoil {
			last.fate = spoiled
		}
		return last.fate
	}
	return t
}
