package extsort

import (
	"encoding/binary"
	"io"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/record"
)

// Bytes of the buffer of one spilled run while it is merged.
const (
	minMergeBuffer = 16 << 10
	maxMergeBuffer = 1 << 20
)

// A merger yields the records of a sorter in order: a heap of its runs, by their next records.
type merger struct {
	order record.Order
	heap  []runReader
}

// A runReader reads one sorted run: in memory or, if run is nil, from the scratch file.
type runReader struct {
	record []byte // the next record: a part of the run or of buf
	word   uint64 // its first word

	run  *run
	next int // in run.sorted

	file     *osfile.File
	off, end int64  // the part of the file that is still to be read
	buf      []byte // buf[from:] is read and not yet returned
	from     int
}

// Merge starts to read the records, after sortSpace.prepare.
func (s *Sorter) Merge() (*merger, error) {
	if err := s.space.wait(); err != nil {
		return nil, err
	}
	<-s.ready
	m := &merger{order: s.run.order, heap: make([]runReader, 0, 1+len(s.spilled))}
	sources := []runReader{{run: s.run}}
	size := min(max(s.space.limit/2/(len(s.spilled)+1), minMergeBuffer), maxMergeBuffer)
	for _, r := range s.spilled {
		sources = append(sources, runReader{file: s.space.file, off: r.off, end: r.end, buf: make([]byte, 0, size)})
	}
	for i := range sources {
		ok, err := m.advance(&sources[i])
		if err != nil {
			return nil, err
		}
		if ok {
			m.heap = append(m.heap, sources[i])
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sift(i)
	}
	return m, nil
}

// Peek returns the next record, or nil at the end. It is valid until the next call of drop.
func (m *merger) Peek() []byte {
	if len(m.heap) == 0 {
		return nil
	}
	return m.heap[0].record
}

// Drop passes over the record that peek returns.
func (m *merger) Drop() error {
	ok, err := m.advance(&m.heap[0])
	if err != nil {
		return err
	}
	if !ok {
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
	}
	m.sift(0)
	return nil
}

// advance reads the next record of a run. It is not ok at the end.
func (m *merger) advance(r *runReader) (ok bool, err error) {
	if r.run != nil {
		ok = r.advanceInMemory()
	} else {
		ok, err = r.advanceInFile()
	}
	if ok && cap(m.heap) > 1 {
		r.word = m.order.Word(r.record, record.WordPlace{})
	}
	return ok, err
}

func (r *runReader) advanceInMemory() bool {
	if r.next == len(r.run.sorted) {
		return false
	}
	r.record = r.run.record(r.run.sorted[r.next].pos)
	r.next++
	return true
}

func (r *runReader) advanceInFile() (bool, error) {
	if r.from == len(r.buf) && r.off == r.end {
		return false, nil
	}
	if err := r.fill(recordPrefix); err != nil {
		return false, err
	}
	n := int(binary.LittleEndian.Uint32(r.buf[r.from:]))
	if err := r.fill(recordPrefix + n); err != nil {
		return false, err
	}
	r.from += recordPrefix
	r.record = r.buf[r.from : r.from+n : r.from+n]
	r.from += n
	return true, nil
}

// fill reads on until buf has n bytes to give out. It overwrites the record given out last.
func (r *runReader) fill(n int) error {
	have := len(r.buf) - r.from
	if have >= n {
		return nil
	}
	old := r.buf[r.from:]
	if n > cap(r.buf) {
		r.buf = make([]byte, 0, n)
	}
	copy(r.buf[:have], old)
	read := int(min(int64(cap(r.buf)-have), r.end-r.off))
	r.buf, r.from = r.buf[:have+read], 0
	if n > len(r.buf) {
		return io.ErrUnexpectedEOF
	}
	got, err := r.file.ReadAt(r.buf[have:], r.off)
	r.off += int64(got)
	if err == io.EOF && got == read {
		err = nil
	}
	return err
}

// sift moves the run at i down to its place in the heap.
func (m *merger) sift(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(m.heap); c++ {
			if m.less(c, least) {
				least = c
			}
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}

func (m *merger) less(i, j int) bool {
	a, b := &m.heap[i], &m.heap[j]
	if a.word != b.word {
		return a.word < b.word
	}
	return m.order.Compare(a.record, b.record) < 0
}
