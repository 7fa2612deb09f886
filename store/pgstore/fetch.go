package pgstore

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/foliofs/folio/store"
	"github.com/foliofs/folio/store/pgstore/internal/bucket"
	"github.com/foliofs/folio/store/pgstore/internal/chunkcache"
)

// A want is a chunk of an object some bytes of which go to p.
type want struct {
	part
	p   []byte
	off int // in the chunk
}

// A flight fetches neighbouring chunks of an object.
type flight struct {
	object bucket.Name
	at     int64
	parts  []part
	bytes  []byte
	bad    []bool        // for each part, that its checksum differs
	done   chan struct{} // closed when the fields above, and err, are set
	err    error
}

// read fills what is wanted, from the cache or from the bucket.
func (o *objects) read(ctx context.Context, wants []want) error {
	missing := wants[:0:0]
	for i := range wants {
		if w := &wants[i]; !o.cache.ReadAt(w.key(), w.length, w.sum, w.p, w.off) {
			missing = append(missing, *w)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	parts := make([]part, len(missing))
	for i := range missing {
		parts[i] = missing[i].part
	}
	flights := o.fetch(parts, false)
	for i := range missing {
		if err := missing[i].take(ctx, flights[i]); err != nil {
			return err
		}
	}
	return nil
}

// take waits for a flight and takes what is wanted from it.
func (w *want) take(ctx context.Context, f *flight) error {
	select {
	case <-f.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	i := slices.IndexFunc(f.parts, func(p part) bool { return p.at == w.at && p.length == w.length && p.sum == w.sum })
	switch {
	case errors.Is(f.err, bucket.ErrMissing):
		return lost(&w.part, "is missing in the bucket")
	case f.err != nil:
		return f.err
	case i < 0 || f.bad[i]:
		return lost(&w.part, "has another checksum than it should")
	}
	copy(w.p, f.bytes[w.at-f.at:][w.off:])
	return nil
}

// fetch returns for each part the flight that has it: one that is under way, or one that it starts.
// If ahead is set, it starts flights only for parts that the cache does not have, and returns
// nothing.
func (o *objects) fetch(parts []part, ahead bool) []*flight {
	flights := make([]*flight, len(parts))
	var begun []*flight
	o.mu.Lock()
	for i := range parts {
		p := &parts[i]
		if f := o.flights[p.key()]; f != nil && f.has(p) {
			flights[i] = f
			continue
		}
		if ahead && o.cache.Has(p.key()) {
			continue
		}
		f := last(begun)
		if f == nil || !f.extends(p) {
			f = &flight{object: p.object, at: p.at, done: make(chan struct{})}
			begun = append(begun, f)
		}
		f.parts = append(f.parts, *p)
		flights[i], o.flights[p.key()] = f, f
	}
	o.mu.Unlock()
	for _, f := range begun {
		o.wg.Go(func() { o.fly(f) })
	}
	return flights
}

func last(list []*flight) *flight {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

// has reports whether a flight has a part with the checksum of its row.
func (f *flight) has(p *part) bool {
	return slices.ContainsFunc(f.parts, func(q part) bool { return q.at == p.at && q.length == p.length && q.sum == p.sum })
}

// extends reports whether a part follows those of a flight in its object.
func (f *flight) extends(p *part) bool {
	end := &f.parts[len(f.parts)-1]
	return p.object == f.object && p.at == end.at+int64(end.length)
}

// fly fetches a flight.
func (o *objects) fly(f *flight) {
	o.fetches <- struct{}{}
	defer func() {
		<-o.fetches
		o.mu.Lock()
		for i := range f.parts {
			if k := f.parts[i].key(); o.flights[k] == f {
				delete(o.flights, k)
			}
		}
		o.mu.Unlock()
		close(f.done)
	}()
	end := &f.parts[len(f.parts)-1]
	f.bytes = make([]byte, end.at+int64(end.length)-f.at)
	for range 2 { // bytes that were damaged on the way may come whole the next time
		if f.err = o.client.Get(o.ctx, f.object, f.bytes, f.at); f.err != nil || f.compare() {
			break
		}
	}
	if f.err == nil {
		o.keep(f)
	}
}

// compare compares all parts with their checksums.
func (f *flight) compare() (same bool) {
	f.bad, same = make([]bool, len(f.parts)), true
	for i := range f.parts {
		p := &f.parts[i]
		f.bad[i] = chunkcache.Sum(f.bytes[p.at-f.at:][:p.length]) != p.sum
		same = same && !f.bad[i]
	}
	return same
}

// keep puts the parts into the cache.
func (o *objects) keep(f *flight) {
	for i := range f.parts {
		p := &f.parts[i]
		if f.bad[i] {
			continue
		}
		chunk := f.bytes[p.at-f.at:][:p.length]
		if o.cache.InMemory() {
			chunk = slices.Clone(chunk)
		}
		o.cache.Put(p.key(), chunk)
	}
}

// A memo has parts that were read in the newest snapshot, so that to read them again takes no trip
// while nothing changes.
type memo struct {
	mu      sync.Mutex // guards the fields below
	version int64
	parts   map[int64]part // by the id of their rows
}

// maxMemo is how many parts a memo has: those of 8 GiB.
const maxMemo = 1 << 17

func (m *memo) get(version, id int64) (p part, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if version != m.version {
		return p, false
	}
	p, ok = m.parts[id]
	return p, ok
}

func (m *memo) put(version, id int64, p part) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case version < m.version:
		return
	case version > m.version || len(m.parts) >= maxMemo || m.parts == nil:
		m.version, m.parts = version, make(map[int64]part)
	}
	m.parts[id] = p
}

// streams are reads that go through files.
type streams struct {
	window int64

	mu    sync.Mutex // guards files
	files map[store.Ino]*stream
}

type stream struct {
	next    int64 // where the next read begins if it goes on
	ahead   int64 // up to where content was asked for
	objects bool  // there are some
}

const (
	maxWindow  = 32 << 20 // bytes that are read ahead
	maxStreams = 256
)

// follow notes a read, and returns the range that should be read ahead.
func (s *streams) follow(n *store.Node, off, length int64) (from, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[n.Ino]
	if f == nil || f.next != off {
		if f == nil && len(s.files) >= maxStreams || s.files == nil {
			s.files = make(map[store.Ino]*stream)
		}
		// A caller that reads a lot at once is likely to go on.
		f = &stream{objects: f != nil && f.objects || length >= maxRead}
		s.files[n.Ino] = f
		if length < maxRead {
			f.next, f.ahead = off+length, off+length
			return 0, 0
		}
	}
	f.next = off + length
	f.ahead = max(f.ahead, f.next)
	if !f.objects || s.window < maxObject || f.ahead-f.next > s.window/2 || f.ahead >= n.Size {
		return 0, 0
	}
	from = f.ahead
	to = min(n.Size, (f.next+s.window+maxObject-1)/maxObject*maxObject)
	f.ahead = to
	return from, to
}

// found notes that a file has objects.
func (s *streams) found(ino store.Ino) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[ino]; f != nil {
		f.objects = true
	}
}
