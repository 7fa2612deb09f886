package serve

import (
	"context"
	"net/http"
	"path"

	"github.com/foliofs/folio/internal/store"
)

// A laneOffer is what a handler says of its answer, so that a lane can repeat it.
type laneOffer struct {
	tree   *tree
	who    *authority
	serial uint64   // of the opened volume
	names  []string // from the root of the volume to the file, none of them a symbolic link
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
	if g.real != path.Join(g.p.within, g.p.name) || g.p.vol.version() == 0 { // a store without versions takes longer to ask
		return
	}
	o := &laneOffer{
		tree: g.p.tree, who: g.who, serial: g.p.vol.serial, names: elements(g.real), node: storeNode(node(g.info)),
		method: g.r.Method, path: loggedPath(g.r.URL.EscapedPath()), status: g.w.status,
	}
	switch {
	case o.status == http.StatusNotModified || o.status == http.StatusOK && o.method == http.MethodHead:
	case o.status != http.StatusOK || g.info.Size() > largeBuffer-maxLaneHead:
		return
	case g.all && len(data) != int(g.info.Size()):
		o.body, o.length = data, len(data) // compressed
	default:
		o.length = int(g.info.Size())
	}
	take(o)
}
