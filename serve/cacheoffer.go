package serve

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/netip"
	"path"

	"github.com/foliofs/folio/internal/store"
)

// A cacheOffer describes a handler's answer, so that a responseCache can repeat it.
type cacheOffer struct {
	tree   *tree
	who    *authority
	user   string
	client netip.Prefix
	login  *requestSum // of the password that the client has sent, as logins remembers it; nil if none
	serial uint64      // of the opened volume
	names  []string    // from the root of the volume to the file, none of them a symbolic link
	node   store.Node
	method string
	path   string // for the log
	status int
	length int    // of the body
	body   []byte // if that is not the content of the file
}

// A cacheClient gives handlers access to a connection of a responseCache.
type cacheClient struct {
	address netip.Prefix         // by which logins counts tries
	secure  *tls.ConnectionState // nil without TLS
	take    func(*cacheOffer)
}

// cacheKey is the key of the cacheClient in the context of a request.
type cacheKey struct{}

func withClient(ctx context.Context, c *cacheClient) context.Context {
	return context.WithValue(ctx, cacheKey{}, c)
}

// cacheClientOf returns the client of a request, or nil if no responseCache looks at its
// connection.
func cacheClientOf(r *http.Request) *cacheClient {
	c, _ := r.Context().Value(cacheKey{}).(*cacheClient)
	return c
}

// offer lets the cache repeat the answer, if it depends on nothing but the request, the user and
// the version of the volume (L3). data is the body, unless the file is large.
func (g *get) offer(data []byte) {
	client := cacheClientOf(g.r)
	if client == nil || g.p.share != nil || g.p.snapshot != "" {
		return
	}
	if g.real != path.Join(g.p.within, g.p.name) || g.p.vol.version() == 0 { // a store without versions takes longer to ask
		return
	}
	o := &cacheOffer{
		tree: g.p.tree, who: g.who, user: g.user, client: client.address, serial: g.p.vol.serial, names: elements(g.real), node: storeNode(node(g.info)),
		method: g.r.Method, path: loggedPath(g.r.URL.EscapedPath()), status: g.w.status,
	}
	switch {
	case o.status == http.StatusNotModified || o.status == http.StatusOK && o.method == http.MethodHead:
	case o.status != http.StatusOK || g.info.Size() > largeBuffer-maxCachedHead:
		return
	case g.all && len(data) != int(g.info.Size()):
		o.body, o.length = data, len(data) // compressed
	default:
		o.length = int(g.info.Size())
	}
	if name, password, ok := g.r.BasicAuth(); ok && g.user != "" {
		sum := g.s.logins.sum(client.address, name, password)
		o.login = &sum
	}
	client.take(o)
}
