package pgstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore/bucket"
	"github.com/foliofs/folio/internal/store/pgstore/chunkcache"
)

// Large contents are objects in a bucket of S3. A chunk of a file is a data row, as ever, but in
// place of bytes the row may have a part of an object: its name, where the chunk begins there, its
// length, and its checksum. So a write of 4 KiB in the middle of a large file makes one chunk a row
// with bytes again, and leaves the object as it is.
//
//	O1  An object is written once, under a random name, and never changed. It is confirmed by the
//	    server before a row that names it is sent.
//	O2  A row with a part names an object of table object that is not swept. Each statement
//	    that adds the first row of an object adds the object, too, which fails if it is swept.
//	O3  An object is swept, and then removed from the bucket, only if no row names it, and no
//	    snapshot that a transaction of the server still has. garbage.go does that.
//	O4  What is read of an object is compared with the checksum of its row.

const (
	// maxObject is how many bytes an object has at most. Reads fetch parts of that size, several at
	// once, when they go through a file.
	maxObject = 4 << 20
	// minObject is the length from which on contents that are written together become objects.
	minObject = 256 << 10
	// maxUploads and maxFetches are how many requests of a Store write and read at once.
	maxUploads = 8
	maxFetches = 16
)

// A part is a chunk that is in an object.
type part struct {
	object bucket.Name
	at     int64
	length int
	sum    uint32
	upload *upload // by a transaction that has not sent it to the server yet; or nil
}

func (p *part) key() chunkcache.Key { return chunkcache.Key{Object: p.object, At: p.at} }

// partOf takes the columns of a part. ok is false if the row has none.
func partOf(v [][]byte) (p part, ok bool) {
	if copy(p.object[:], v[0]) < len(p.object) {
		return p, false
	}
	p.at, p.length, p.sum = number(v[1]), int(number(v[2])), uint32(number(v[3]))
	return p, true
}

// plausible reports whether a part can be one: a row may say anything.
func (p *part) plausible() bool {
	return p.at >= 0 && p.length > 0 && p.length <= store.ChunkSize && p.at+int64(p.length) <= maxObject
}

// objects are the large contents of a volume with a bucket.
type objects struct {
	client  *bucket.Client
	cache   *chunkcache.Cache
	uploads chan struct{} // has a token for each upload that runs
	fetches chan struct{} // and for each fetch
	memo    memo
	streams streams

	cacheSize int64

	ctx    context.Context // of what runs in the background
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex // guards fetches
	running map[chunkcache.Key]*fetch
}

func newObjects(client *bucket.Client, cache *chunkcache.Cache, cacheSize int64) *objects {
	o := &objects{
		client: client, cache: cache, uploads: make(chan struct{}, maxUploads), fetches: make(chan struct{}, maxFetches),
		running: make(map[chunkcache.Key]*fetch),
	}
	o.cacheSize, o.streams.window = cacheSize, min(maxWindow, cacheSize/2)
	o.ctx, o.cancel = context.WithCancel(context.Background())
	return o
}

// close ends what runs in the background.
func (o *objects) close() {
	if o == nil {
		return
	}
	o.cancel()
	o.wg.Wait()
	o.cache.Close()
}

// partSize is how much of a long content is written or read at once, so that several objects are
// under way.
const partSize = 4 * maxObject

// An upload is an object on its way to the bucket.
type upload struct {
	name   bucket.Name
	size   int64
	chunks [][]byte      // nil when it is done
	done   chan struct{} // closed when err is set
	err    error
	sent   bool // the transaction has sent it to the server
}

// upload begins to write an object. It waits if many are under way.
func (o *objects) upload(ctx context.Context, chunks [][]byte) (*upload, error) {
	u := &upload{chunks: chunks, done: make(chan struct{})}
	_, _ = rand.Read(u.name[:])
	for _, c := range chunks {
		u.size += int64(len(c))
	}
	select {
	case o.uploads <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	o.wg.Go(func() {
		defer close(u.done)
		u.err = o.client.Put(ctx, u.name, &chunkReader{chunks: u.chunks, size: u.size}, u.size)
		<-o.uploads
		if u.err == nil && o.cache.InMemory() {
			at := int64(0)
			for _, c := range u.chunks {
				o.cache.Put(chunkcache.Key{Object: u.name, At: at}, c)
				at += int64(len(c))
			}
		}
		u.chunks = nil
	})
	return u, nil
}

// discard removes objects that no row will ever name. If that fails, GC does it.
func (o *objects) discard(list []*upload) {
	if len(list) == 0 {
		return
	}
	o.wg.Go(func() {
		for _, u := range list {
			<-u.done
			if o.client.Delete(o.ctx, u.name) != nil {
				return
			}
		}
	})
}

// A chunkReader reads chunks one after the other.
type chunkReader struct {
	chunks [][]byte
	size   int64
	off    int64
}

var errSeek = errors.New("seek before the start")

func (r *chunkReader) Seek(off int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		off += r.off
	case io.SeekEnd:
		off += r.size
	}
	if off < 0 {
		return 0, errSeek
	}
	r.off = off
	return off, nil
}

func (r *chunkReader) Read(p []byte) (int, error) {
	at := int64(0)
	for _, c := range r.chunks {
		if end := at + int64(len(c)); r.off < end {
			n := copy(p, c[r.off-at:])
			r.off += int64(n)
			return n, nil
		}
		at += int64(len(c))
	}
	return 0, io.EOF
}

// lost is the error for a chunk that the bucket does not have as it was written.
func lost(p *part, what string) error {
	return store.Damaged("object %s %s", p.object, fmt.Sprintf("%s, %d bytes from byte %d on", what, p.length, p.at))
}
