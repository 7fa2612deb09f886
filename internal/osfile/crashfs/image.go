package crashfs

import (
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"slices"
)

// An Image holds the files that a crash left on disk. It is immutable.
type Image struct {
	Way   Way
	How   string // the operations that were not synced and are in it
	files map[string][]byte
}

// A Way is how a crash treats changes that were not synced.
type Way int

// The ways, each of them a part of a Plan.
const (
	Whole   Way = iota // all of it is there or nothing, of names and of content
	Names              // one change of names is lost alone, or there alone
	Dropped            // one change of content is lost alone
	Torn               // of one change of content the sectors before or after one are lost
	Subset             // chance says which changes, or which sectors, are there
	Garbage            // as Subset, and some sectors hold garbage
	Ways               // how many there are
)

func (w Way) String() string {
	return [...]string{"whole", "names", "dropped", "torn", "subset", "garbage"}[w]
}

// Names returns the names of its files, sorted.
func (m *Image) Names() []string { return slices.Sorted(maps.Keys(m.files)) }

// File returns the content of a file, which must not be changed; nil if there is none.
func (m *Image) File(name string) []byte { return m.files[absolute(name)] }

var hashSeed = maphash.MakeSeed()

// Hash returns a number that images with the same files share, within this process.
func (m *Image) Hash() uint64 {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	for _, name := range m.Names() {
		fmt.Fprintf(&h, "%s\x00%d\x00", name, len(m.files[name]))
		_, _ = h.Write(m.files[name])
	}
	return h.Sum64()
}

// A fate decides which changes that are not on disk survive the power failure.
type fate struct {
	way    Way
	how    string
	always bool // not left to Plan.Share
	moved  func(m *move) bool
	wrote  func(c *change, sector int) sectorFate // sector counts the sectors of the change; a Truncate has one
	words  int                                    // of volatile files: 0 none, 1 the last, 2 an earlier, 3 garbage
	rng    *rand.Rand                             // for garbage; nil if there is none
}

type sectorFate int

const (
	dropped sectorFate = iota
	kept
	spoiled // garbage in the bytes that were being written
)

const sectorSize = 512

// image returns the disk after the power failed.
func (d *Disk) image(t *fate) *Image {
	names := maps.Clone(d.names)
	for i := range d.moves {
		if m := &d.moves[i]; t.moved(m) {
			m.apply(names)
		}
	}
	m := &Image{Way: t.way, How: t.how, files: make(map[string][]byte, len(names))}
	for name, i := range names {
		f := d.files[i]
		switch {
		case d.history.words[i]:
			m.files[name] = f.volatile(t)
		case f == nil:
			m.files[name] = nil
		default:
			m.files[name] = f.after(t)
		}
	}
	return m
}

// after returns the content of the file after the power failed.
func (f *file) after(t *fate) []byte {
	if len(f.pending) == 0 {
		return f.content
	}
	content := slices.Clone(f.content)
	for i := range f.pending {
		content = f.pending[i].fall(content, t)
	}
	return content
}

// fall applies the part of the change that survives, sector by sector (D1).
func (c *change) fall(content []byte, t *fate) []byte {
	if c.kind == Truncate {
		if t.wrote(c, 0) == dropped {
			return content
		}
		return resized(content, c.off)
	}
	end := c.off + c.size
	for n, start := 0, c.off; start < end; n++ {
		stop := min(end, start/sectorSize*sectorSize+sectorSize)
		if fate := t.wrote(c, n); fate != dropped {
			content = c.part(content, start, stop)
			if fate == spoiled {
				fill(content[start:stop], t.rng)
			}
		}
		start = stop
	}
	return content
}

// sectors returns how many sectors the change touches.
func (c *change) sectors() int {
	if c.kind == Truncate {
		return 1
	}
	return int((c.off+c.size-1)/sectorSize-c.off/sectorSize) + 1
}

func fill(b []byte, rng *rand.Rand) {
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
}

// volatile returns the content that a file has after the crash if it was mapped as words (D7).
func (f *file) volatile(t *fate) []byte {
	n := 0
	if f != nil {
		n = len(f.words)
	}
	switch {
	case t.words == 1 && n > 0:
		return regionBytes(f.words[n-1])
	case t.words == 2 && n > 0:
		return regionBytes(f.words[t.rng.IntN(n)])
	case t.words == 3:
		b := make([]byte, 1+t.rng.IntN(1<<16))
		fill(b, t.rng)
		return b
	}
	return nil
}
