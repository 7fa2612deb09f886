package extsort

import (
	"cmp"
	"context"
	"encoding/binary"
	"runtime"
	"slices"
	"sync"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/record"
)

const (
	minChunk = 4 << 10 // bytes of the first chunk of a run
	maxChunk = 1 << 20 // bytes of a chunk, unless one record is larger

	leastRun = 16 << 10 // bytes that a run may take whatever the limit, or it would be spilled record by record

	recordPrefix  = 4  // bytes of the length in front of each record of a run
	sortEntrySize = 16 // bytes
)

// A recordPos is where a record of a run is: its chunk in the upper 32 bits, the offset therein in
// the lower.
type recordPos uint64

// A run holds records, each behind its length, in chunks of memory, until they are sorted.
type run struct {
	order  record.Order
	chunks [][]byte // the length is the filled part
	count  int
	bytes  int     // of the records, with their prefixes
	memory int     // bytes of the chunks and the sorted entries
	sorted []entry // after prepare
}

// record returns the record at pos.
func (r *run) record(pos recordPos) []byte {
	b := r.chunks[pos>>32][uint32(pos):]
	n := binary.LittleEndian.Uint32(b)
	return b[recordPrefix : recordPrefix+n : recordPrefix+n]
}

// prepare sorts the run.
func (r *run) prepare() {
	r.sorted = make([]entry, 0, r.count)
	for i, chunk := range r.chunks {
		for off := 0; off < len(chunk); {
			r.sorted = append(r.sorted, entry{pos: recordPos(i)<<32 | recordPos(off)})
			off += recordPrefix + int(binary.LittleEndian.Uint32(chunk[off:]))
		}
	}
	if !r.ascends() {
		r.sort(r.sorted, record.WordPlace{})
	}
}

// ascends reports whether the records came in order.
func (r *run) ascends() bool {
	for i := 1; i < len(r.sorted); i++ {
		if r.order.Compare(r.record(r.sorted[i-1].pos), r.record(r.sorted[i].pos)) > 0 {
			return false
		}
	}
	return true
}

// write writes the records in order to file, from offset off on.
func (r *run) write(ctx context.Context, file *osfile.File, off int64) error {
	buf := make([]byte, 0, min(r.bytes, maxChunk))
	for _, e := range r.sorted {
		b := r.chunks[e.pos>>32][uint32(e.pos):]
		b = b[:recordPrefix+binary.LittleEndian.Uint32(b)]
		if len(buf)+len(b) > cap(buf) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := writeAll(file, buf, &off); err != nil {
				return err
			}
			buf = buf[:0]
		}
		buf = append(buf, b...)
	}
	return writeAll(file, buf, &off)
}

func writeAll(file *osfile.File, b []byte, off *int64) error {
	n, err := file.WriteAt(b, *off)
	*off += int64(n)
	return err
}

// A Sorter sorts the records of one index: the latest in memory, earlier ones as sorted runs in the
// scratch file.
type Sorter struct {
	space   *Space
	run     *run
	spilled []spilledRun
	ready   chan struct{} // closed when run is sorted; made by prepare
}

// A spilledRun is a part of the scratch file.
type spilledRun struct{ off, end int64 }

// Add returns the place of a new record of n bytes; the caller fills it before the next call.
func (s *Sorter) Add(n int) ([]byte, error) {
	need := recordPrefix + n
	if !s.run.room(need) {
		if err := s.space.grow(s, need); err != nil {
			return nil, err
		}
	}
	r := s.run
	chunk := &r.chunks[len(r.chunks)-1]
	at := len(*chunk)
	*chunk = (*chunk)[:at+need]
	binary.LittleEndian.PutUint32((*chunk)[at:], uint32(n))
	r.count++
	r.bytes += need
	r.memory += sortEntrySize
	return (*chunk)[at+recordPrefix : at+need : at+need], nil
}

func (s *Sorter) Order() record.Order { return s.run.order }

// Release lets go of the records.
func (s *Sorter) Release() { s.run = &run{order: s.run.order} }

func (r *run) room(n int) bool {
	if len(r.chunks) == 0 {
		return false
	}
	last := r.chunks[len(r.chunks)-1]
	return cap(last)-len(last) >= n
}

// A Space is the memory and the scratch file that all sorters of one build share.
//
// Invariants:
//
//	M1  The runs being filled take at most half of limit and one chunk, and the run being spilled
//	    another half, except that each sorter may use leastRun bytes in any case.
//	M2  At most one run is being spilled, by a goroutine that owns the run until it sends on
//	    spilling.
type Space struct {
	ctx      context.Context
	dir      string // of the scratch file
	limit    int    // bytes
	sorters  []*Sorter
	spare    [][]byte // chunks of maxChunk bytes for reuse
	file     *osfile.File
	end      int64
	spilling chan spillResult // nil while nothing is being spilled
	sorting  sync.WaitGroup   // goroutines of prepare
}

// New returns the space of sorters that take about limit bytes of memory together, and spill the
// rest to a scratch file in the directory dir. Sorting ends with the error of ctx when that is
// canceled.
func New(ctx context.Context, dir string, limit int) *Space {
	return &Space{ctx: ctx, dir: dir, limit: limit}
}

type spillResult struct {
	run *run
	err error
}

func (s *Space) Sorter(order record.Order) *Sorter {
	t := &Sorter{space: s, run: &run{order: order}}
	s.sorters = append(s.sorters, t)
	return t
}

// grow makes room in t for n more bytes. If that is too much memory (M1) the largest run goes to
// the scratch file first.
func (s *Space) grow(t *Sorter, n int) error {
	if s.used() > max(s.limit/2, leastRun*len(s.sorters)) {
		if err := s.spill(); err != nil {
			return err
		}
	}
	chunk := s.chunk(t.run.memory, n)
	t.run.chunks = append(t.run.chunks, chunk)
	t.run.memory += cap(chunk)
	return nil
}

// chunk returns an empty chunk of n bytes at least, and as much as the run has already, up to
// maxChunk.
func (s *Space) chunk(have, n int) []byte {
	size := max(n, min(max(have, minChunk), maxChunk))
	if last := len(s.spare) - 1; last >= 0 && n <= maxChunk && have > 0 {
		c := s.spare[last]
		s.spare = s.spare[:last]
		return c
	}
	return make([]byte, 0, size)
}

func (s *Space) used() (n int) {
	for _, t := range s.sorters {
		n += t.run.memory
	}
	return n
}

// spill starts to move the largest run to the scratch file, after the run before is there (M2).
func (s *Space) spill() error {
	if err := s.wait(); err != nil {
		return err
	}
	if s.file == nil {
		file, err := osfile.CreateScratch(s.dir)
		if err != nil {
			return err
		}
		s.file = file
	}
	t := slices.MaxFunc(s.sorters, func(a, b *Sorter) int { return cmp.Compare(a.run.memory, b.run.memory) })
	full, off := t.run, s.end
	t.run = &run{order: full.order}
	s.end += int64(full.bytes)
	t.spilled = append(t.spilled, spilledRun{off, s.end})
	done := make(chan spillResult, 1)
	s.spilling = done
	ctx, file := s.ctx, s.file
	go func() {
		full.prepare()
		done <- spillResult{full, full.write(ctx, file, off)}
	}()
	return nil
}

// Prepare starts to sort the runs in memory, as many at once as there are processors. No records
// come any more.
func (s *Space) Prepare() {
	s.spare = nil
	turn := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, t := range s.sorters {
		t.ready = make(chan struct{})
		s.sorting.Go(func() {
			turn <- struct{}{}
			t.run.prepare()
			<-turn
			close(t.ready)
		})
	}
}

// wait returns when no run is being spilled.
func (s *Space) wait() error {
	if s.spilling == nil {
		return nil
	}
	done := <-s.spilling
	s.spilling = nil
	for _, c := range done.run.chunks {
		if cap(c) == maxChunk {
			s.spare = append(s.spare, c[:0])
		}
	}
	return done.err
}

// Close gives back the scratch file. It may be called at any time, and again.
func (s *Space) Close() error {
	s.sorting.Wait()
	err := s.wait()
	if s.file != nil {
		err = cmp.Or(err, s.file.Discard())
		s.file = nil
	}
	return err
}
