package serve

import "sync"

// Sizes of buffers. Few clients get large ones, which are faster; many get small ones, so that the
// memory of a server is bounded by the number of connections.
const (
	largeBuffer  = 512 << 10
	largeBuffers = 32
	smallBuffer  = 32 << 10
)

// buffers are for copying contents to clients and from them.
type buffers struct {
	slots chan struct{} // one for each large buffer in use
	large sync.Pool
	small sync.Pool
}

func newBuffers() *buffers {
	return &buffers{
		slots: make(chan struct{}, largeBuffers),
		large: sync.Pool{New: func() any { p := make([]byte, largeBuffer); return &p }},
		small: sync.Pool{New: func() any { p := make([]byte, smallBuffer); return &p }},
	}
}

// get returns a buffer for a content of a size, or of an unknown one if that is below 0. The caller
// must give it back by release.
func (b *buffers) get(size int64) (p []byte, release func()) {
	if size < 0 || size > smallBuffer {
		select {
		case b.slots <- struct{}{}:
			p := b.large.Get().(*[]byte)
			return *p, func() { b.large.Put(p); <-b.slots }
		default:
		}
	}
	s := b.small.Get().(*[]byte)
	return *s, func() { b.small.Put(s) }
}
