package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/store"
)

// A responseCache answers requests for small files that it has seen before, without package http.
// Most of the time of such a request goes into reading it and into putting the headers of the
// answer together. Both are the same each time: the answer depends only on the bytes of the
// request, the options of the server, the file, and the date.
//
//	L1  A connection of the cache (cacheconn.go) reads a request itself only when package http has
//	    consumed all before it, so the cache and package http never disagree where a request begins.
//	L2  An entry is found by the SHA-256 sum of all bytes of its request. It was stored when package
//	    http had answered them, and a handler had offered to repeat that. No credentials are kept.
//	L3  A handler offers nothing that depends on a share, on a snapshot, or on a symbolic link. An
//	    entry counts as long as the users and rights with which it was made. If its request had a
//	    password, the client must have the same address, and logins must remember that password for
//	    this address (G3). So an entry helps nobody to guess.
//	L4  The cache repeats an answer only if the path leads to the same inode as then, with the same
//	    times and size. It need not look while the version of the volume is the same. The content
//	    comes from the same transaction.
//
// A request that the cache does not answer goes on to package http, byte for byte.
type responseCache struct {
	site *site

	mu       sync.Mutex // guards the fields below
	young    map[requestSum]*cachedResponse
	old      map[requestSum]*cachedResponse
	youngLen int // bytes

	late sync.WaitGroup // answers on connections that package http has closed already
}

// A requestSum is the sum of a request.
type requestSum = [sha256.Size]byte

func newResponseCache(s *site) *responseCache {
	return &responseCache{site: s, young: make(map[requestSum]*cachedResponse)}
}

// find returns the entry of a request from a client, or nil.
func (rc *responseCache) find(request []byte, client netip.Prefix) *cachedResponse {
	e := rc.lookup(sha256.Sum256(request))
	if e == nil || e.login == nil || e.client == client && rc.site.logins.remembersSum(client, e.who.users, *e.login) {
		return e
	}
	return nil
}

// lookup returns the entry with a sum, if the users and rights are still the same, or nil.
func (rc *responseCache) lookup(sum requestSum) *cachedResponse {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	who := rc.site.who.Load()
	if e := rc.young[sum]; e != nil && e.who == who {
		return e
	}
	if e := rc.old[sum]; e != nil && e.who == who {
		rc.add(e)
		return e
	}
	return nil
}

func (rc *responseCache) put(e *cachedResponse) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.add(e)
}

// add puts an entry into the young generation. The caller must hold mu.
func (rc *responseCache) add(e *cachedResponse) {
	if rc.youngLen += e.cost(); rc.youngLen > responseCacheSize/2 {
		rc.old, rc.young, rc.youngLen = rc.young, make(map[requestSum]*cachedResponse), e.cost()
	}
	rc.young[e.sum] = e
}

// A responseCapture is an answer on its way from package http to a client.
type responseCapture struct {
	request []byte
	head    []byte      // the bytes written first
	written int         // bytes
	offer   *cacheOffer // nil if the answer is not to be repeated
}

var responseCaptures = sync.Pool{New: func() any { return new(responseCapture) }}

func (c *responseCapture) free() {
	c.request, c.head, c.written, c.offer = c.request[:0], c.head[:0], 0, nil
	responseCaptures.Put(c)
}

func (c *responseCapture) write(p []byte) {
	c.written += len(p)
	c.head = append(c.head, p[:min(len(p), maxCachedHead-len(c.head))]...)
}

// entry returns the entry of an answer, or nil if it cannot be repeated.
func (c *responseCapture) entry() *cachedResponse {
	end := bytes.Index(c.head, []byte("\r\n\r\n")) + 4
	if c.offer == nil || end < 4 || c.written != end+c.offer.length {
		return nil
	}
	head := string(c.head[:end])
	date := strings.Index(head, "\r\nDate: ") + len("\r\nDate: ")
	if date < len("\r\nDate: ") || len(head) < date+len(http.TimeFormat) || strings.Contains(head, "\r\nConnection:") {
		return nil
	}
	return &cachedResponse{cacheOffer: *c.offer, sum: sha256.Sum256(c.request), head: head, date: date}
}

// A cachedResponse is the answer to a request.
type cachedResponse struct {
	cacheOffer
	sum     requestSum
	head    string
	date    int           // where the date stands in head
	version atomic.Uint64 // of the volume, in which the answer was right; 0 at first
}

// size returns how many bytes the answer has.
func (e *cachedResponse) size() int { return len(e.head) + e.length }

// cost returns about how many bytes an entry takes.
func (e *cachedResponse) cost() int {
	const perEntry = 500
	return len(e.head) + len(e.body) + perEntry
}

// appendTo appends the answer to buf, if it fits there and still holds.
func (e *cachedResponse) appendTo(buf []byte, now time.Time) (answer []byte, ok bool) {
	o, err := e.tree.acquire()
	if err != nil {
		return nil, false
	}
	defer o.release()
	if o.serial != e.serial {
		return nil, false
	}
	rx, err := o.store.Begin(context.Background())
	if err != nil {
		return nil, false
	}
	defer rx.End()
	if !e.holds(rx) {
		return nil, false
	}
	buf = append(buf, e.head...)
	now.UTC().AppendFormat(buf[e.date:e.date], http.TimeFormat) // the length is the same each time
	if e.length == 0 || e.body != nil {
		return append(buf, e.body...), true
	}
	start := len(buf)
	buf = buf[:start+e.length]
	n, err := rx.ReadAt(e.node, buf[start:], 0)
	return buf, n == e.length && (err == nil || err == io.EOF)
}

// holds reports whether the answer is right in a transaction (L4). The path has no symbolic link: a
// directory that has become one has no entries.
func (e *cachedResponse) holds(rx store.Rx) bool {
	version := rx.Version()
	if version != 0 && version == e.version.Load() {
		return true
	}
	at := store.Root
	for _, name := range e.names {
		entry, err := rx.Lookup(at, name)
		if err != nil {
			return false
		}
		at = entry.Ino
	}
	if at != e.node.Ino {
		return false
	}
	if n, err := rx.Node(at); err != nil || n != e.node {
		return false
	}
	e.version.Store(version)
	return true
}
