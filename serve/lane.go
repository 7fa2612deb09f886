package serve

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/store"
)

// A lane answers requests that it has seen before, without package http. Most of the time of a
// small file goes into reading the request and into putting the headers of the answer together.
// Both are the same each time: the answer depends on nothing but the bytes of the request, the
// options of the server, the file, and the date.
//
//	L1  A connection of the lane (laneconn.go) reads a request itself only when package http has
//	    consumed all before it, so the lane and package http never disagree where a request begins.
//	L2  An entry is found by all bytes of its request. It was stored when package http had answered
//	    them, and a handler had offered to repeat that.
//	L3  A handler offers nothing that depends on a user, on a share, on a snapshot, or on a symbolic
//	    link. An entry counts as long as the users and rights by which it was made.
//	L4  The lane repeats an answer only if the path leads to the same inode as then, with the same
//	    times and size. It need not look while the version of the volume is the same. The content
//	    comes from the same transaction.
//
// A request that the lane does not answer goes on to package http, byte for byte.
type lane struct {
	site *site

	mu       sync.Mutex // guards the fields below
	young    map[string]*laneEntry
	old      map[string]*laneEntry
	youngLen int // bytes

	late sync.WaitGroup // answers on connections that package http has closed already
}

func newLane(s *site) *lane { return &lane{site: s, young: make(map[string]*laneEntry)} }

// find returns the entry of a request, or nil.
func (l *lane) find(request []byte) *laneEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	who := l.site.who.Load()
	if e := l.young[string(request)]; e != nil && e.who == who {
		return e
	}
	if e := l.old[string(request)]; e != nil && e.who == who {
		l.add(e)
		return e
	}
	return nil
}

func (l *lane) put(e *laneEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(e)
}

// add puts an entry into the young generation. The caller must hold mu.
func (l *lane) add(e *laneEntry) {
	if l.youngLen += e.cost(); l.youngLen > laneSize/2 {
		l.old, l.young, l.youngLen = l.young, make(map[string]*laneEntry), e.cost()
	}
	l.young[e.request] = e
}

// A laneCapture is an answer on its way from package http to a client.
type laneCapture struct {
	request []byte
	head    []byte     // what was written first
	written int        // bytes
	offer   *laneOffer // nil if the answer is not to be repeated
}

var laneCaptures = sync.Pool{New: func() any { return new(laneCapture) }}

func (c *laneCapture) free() {
	c.request, c.head, c.written, c.offer = c.request[:0], c.head[:0], 0, nil
	laneCaptures.Put(c)
}

func (c *laneCapture) write(p []byte) {
	c.written += len(p)
	c.head = append(c.head, p[:min(len(p), maxLaneHead-len(c.head))]...)
}

// entry returns the entry of an answer, or nil if it cannot be repeated.
func (c *laneCapture) entry() *laneEntry {
	end := bytes.Index(c.head, []byte("\r\n\r\n")) + 4
	if c.offer == nil || end < 4 || c.written != end+c.offer.length {
		return nil
	}
	head := string(c.head[:end])
	date := strings.Index(head, "\r\nDate: ") + len("\r\nDate: ")
	if date < len("\r\nDate: ") || len(head) < date+len(http.TimeFormat) || strings.Contains(head, "\r\nConnection:") {
		return nil
	}
	return &laneEntry{laneOffer: *c.offer, request: string(c.request), head: head, date: date}
}

// A laneEntry is a request and the answer to it.
type laneEntry struct {
	laneOffer
	request string
	head    string
	date    int           // where the date stands in head
	version atomic.Uint64 // of the volume, in which the answer was right; 0 at first
}

// size returns how many bytes the answer has.
func (e *laneEntry) size() int { return len(e.head) + e.length }

// cost returns about how many bytes an entry takes.
func (e *laneEntry) cost() int {
	const perEntry = 400
	return len(e.request) + len(e.head) + len(e.body) + perEntry
}

// appendTo appends the answer to buf, which has room for it, if it still holds.
func (e *laneEntry) appendTo(buf []byte, now time.Time) (answer []byte, ok bool) {
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
	now.UTC().AppendFormat(buf[e.date:e.date], http.TimeFormat) // has the same length each time
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
func (e *laneEntry) holds(rx store.Rx) bool {
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
