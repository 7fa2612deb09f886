package serve

import (
	"context"
	"net/http"

	"github.com/foliofs/folio/store"
)

// A laneOffer is what a handler says of its answer, so that a lane can repeat it.
type laneOffer struct {
	place  place  // without the volume
	serial uint64 // of the opened volume
	node   store.Node
	method string
	path   string // for the log
	status int
	length int    // of the body
	body   []byte // if that is not the content of the file
}

// laneKey is the key of the offers of a connection in the context of a request.
type laneKey struct{}

// withLane returns a context in which take gets the offers.
func withLane(ctx context.Context, take func(*laneOffer)) context.Context {
	return context.WithValue(ctx, laneKey{}, take)
}

// offer lets the lane of the connection repeat the answer, if it depends on nothing but the request
// and the version of the volume (L3). data is the body, unless the file is large.
func (g *get) offer(data []byte) {
	take, _ := g.r.Context().Value(laneKey{}).(func(*laneOffer))
	if take == nil || g.user != "" || g.r.Header["Authorization"] != nil || g.p.share != nil || g.p.snapshot != "" {
		return
	}
	o := &laneOffer{
		place: *g.p, serial: g.p.vol.serial, node: storeNode(node(g.info)),
		method: g.r.Method, path: loggedPath(g.r.URL.EscapedPath()), status: g.w.status,
	}
	o.place.vol = nil
	switch {
	case o.status == http.StatusNotModified || o.status == http.StatusOK && o.method == http.MethodHead:
	case o.status != http.StatusOK || !g.all:
		return
	default:
		if o.length = len(data); o.length != int(g.info.Size()) {
			o.body = data // compressed
		}
	}
	take(o)
}
