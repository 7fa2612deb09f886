package pgstore

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore/bucket"
	"github.com/foliofs/folio/internal/store/pgstore/chunkcache"
)

// An idPart is a part, and the id of its row.
type idPart struct {
	part
	id int64
}

// A chunkRequest is a chunk of an object some bytes of which go to p.
type chunkRequest struct {
	idPart
	p   []byte
	off int // in the chunk
}

// A fetch fetches neighbouring chunks of an object.
type fetch struct {
	object bucket.Name
	at     int64
	parts  []part
	bytes  []byte        // of the parts
	bad    []bool        // for each part, that its checksum differs
	done   chan struct{} // closed when the fields above, and err, are set
	err    error
}

// newFetch returns a fetch for a part, and for those that extend it, which the caller adds.
func newFetch(p *part) *fetch {
	return &fetch{object: p.object, at: p.at, done: make(chan struct{})}
}

// read fills the wanted parts, from the cache or from the bucket, for a long read or another one.
func (o *objects) read(ctx context.Context, wants []chunkRequest, l *longRead) error {
	missing := o.missing(wants, l)
	if l != nil && len(missing) > 0 {
		l.begin(partsOf(missing))
		missing = slices.DeleteFunc(missing, func(w chunkRequest) bool { return l.has(w.id) })
	}
	flights := o.fetch(partsOf(missing), false)
	for i := range missing {
		if err := missing[i].take(ctx, flights[i]); err != nil {
			return err
		}
	}
	for i := range wants {
		if w := &wants[i]; l.has(w.id) {
			if err := l.wait(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// missing fills the wanted parts from the cache, and returns those that are not there, nor on its
// way to a long read.
func (o *objects) missing(wants []chunkRequest, l *longRead) (missing []chunkRequest) {
	for i := range wants {
		if w := &wants[i]; !l.has(w.id) && !o.cache.ReadAt(w.key(), w.length, w.sum, w.p, w.off) {
			missing = append(missing, *w)
		}
	}
	return missing
}

func partsOf(wants []chunkRequest) []idPart {
	parts := make([]idPart, len(wants))
	for i := range wants {
		parts[i] = wants[i].idPart
	}
	return parts
}

// take waits for a fetch and takes the wanted part from it.
func (w *chunkRequest) take(ctx context.Context, f *fetch) error {
	if err := f.wait(ctx); err != nil {
		return err
	}
	bytes, err := f.chunk(&w.part)
	if err == nil {
		copy(w.p, bytes[w.off:])
	}
	return err
}

func (f *fetch) wait(ctx context.Context) error {
	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// chunk returns the bytes of a part, when the fetch has ended.
func (f *fetch) chunk(p *part) ([]byte, error) {
	i := f.index(p)
	switch {
	case errors.Is(f.err, bucket.ErrMissing):
		return nil, lost(p, "is missing in the bucket")
	case f.err != nil:
		return nil, f.err
	case i < 0 || f.bad[i]:
		return nil, lost(p, "has another checksum than it should")
	}
	return f.bytesOf(i), nil
}

func (f *fetch) bytesOf(i int) []byte { return f.bytes[f.parts[i].at-f.at:][:f.parts[i].length] }

// fetch returns for each part the fetch that has it: one that is under way, or one that it starts.
// If ahead is set, it starts fetches only for parts that the cache does not have, and returns
// nothing.
func (o *objects) fetch(parts []idPart, ahead bool) []*fetch {
	if len(parts) == 0 {
		return nil
	}
	flights := make([]*fetch, len(parts))
	var begun []*fetch
	o.mu.Lock()
	for i := range parts {
		p := &parts[i].part
		if f := o.running[p.key()]; f != nil && f.has(p) {
			flights[i] = f
			continue
		}
		if ahead && o.cache.Has(p.key()) {
			continue
		}
		f := last(begun)
		if f == nil || !f.extends(p) {
			f = newFetch(p)
			begun = append(begun, f)
		}
		f.parts = append(f.parts, *p)
		flights[i], o.running[p.key()] = f, f
	}
	o.mu.Unlock()
	for _, f := range begun {
		o.wg.Go(func() { o.fly(f) })
	}
	return flights
}

func last(list []*fetch) *fetch {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

// has reports whether a fetch has a part with the checksum of its row.
func (f *fetch) has(p *part) bool { return f.index(p) >= 0 }

func (f *fetch) index(p *part) int {
	return slices.IndexFunc(f.parts, func(q part) bool { return q.at == p.at && q.length == p.length && q.sum == p.sum })
}

// flying reports whether a fetch has a part that others may take from it.
func (o *objects) flying(p *part) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.running[p.key()]
	return f != nil && f.has(p)
}

// extends reports whether a part follows those of a fetch in its object.
func (f *fetch) extends(p *part) bool {
	end := &f.parts[len(f.parts)-1]
	return p.object == f.object && p.at == end.at+int64(end.length)
}

// fly makes a fetch that others share.
func (o *objects) fly(f *fetch) {
	defer func() {
		o.mu.Lock()
		for i := range f.parts {
			if k := f.parts[i].key(); o.running[k] == f {
				delete(o.running, k)
			}
		}
		o.mu.Unlock()
		close(f.done)
	}()
	end := &f.parts[len(f.parts)-1]
	f.bytes = make([]byte, end.at+int64(end.length)-f.at)
	if o.get(o.ctx, f); f.err == nil {
		o.keep(f)
	}
}

// get gets the bytes of a fetch from the bucket, and compares all parts with their checksums.
func (o *objects) get(ctx context.Context, f *fetch) {
	select {
	case o.fetches <- struct{}{}:
	case <-ctx.Done():
		f.err = ctx.Err()
		return
	}
	defer func() { <-o.fetches }()
	for range 2 { // bytes that were damaged on the way may come whole the next time
		if f.err = o.client.Get(ctx, f.object, f.bytes, f.at, f.compare); f.err != nil || !slices.Contains(f.bad, true) {
			return
		}
	}
}

// compare compares the parts among the first n bytes with their checksums, while these are near the
// processor. It begins again when n is 0.
func (f *fetch) compare(n int) {
	if n == 0 {
		f.bad = f.bad[:0]
	}
	for i := len(f.bad); i < len(f.parts); i++ {
		p := &f.parts[i]
		if p.at+int64(p.length)-f.at > int64(n) {
			return
		}
		f.bad = append(f.bad, chunkcache.Sum(f.bytesOf(i)) != p.sum)
	}
}

// keep puts the parts into the cache.
func (o *objects) keep(f *fetch) {
	for i := range f.parts {
		if f.bad[i] {
			continue
		}
		chunk := f.bytesOf(i)
		if o.cache.InMemory() {
			chunk = slices.Clone(chunk)
		}
		o.cache.Put(f.parts[i].key(), chunk)
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
	if f == nil {
		f = s.add(n.Ino)
	}
	if f.next != off || off == 0 {
		// A caller that reads a lot at once is likely to go on.
		*f = stream{objects: f.objects || length >= maxRead}
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

// goesOn notes a long read, and reports whether it begins where the read before ended: then the
// caller is likely to go through the whole file.
func (s *streams) goesOn(n *store.Node, off, length int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[n.Ino]
	if f == nil {
		f = s.add(n.Ino)
	}
	goesOn := off > 0 && off == f.next
	f.next, f.ahead, f.objects = off+length, off+length, true
	return goesOn
}

// add adds a file, with mu held.
func (s *streams) add(ino store.Ino) *stream {
	if len(s.files) >= maxStreams || s.files == nil {
		s.files = make(map[store.Ino]*stream)
	}
	s.files[ino] = new(stream)
	return s.files[ino]
}

// found notes that a file has objects.
func (s *streams) found(ino store.Ino) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[ino]; f != nil {
		f.objects = true
	}
}

// maxRead is how many bytes of content one statement reads.
const maxRead = 4 << 20
