package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/foliofs/folio/serve/internal/page"
)

// A Server is an http.Handler over volumes. It is safe for concurrent use.
type Server struct {
	*site
	cached   *responseCache     // nil lets package http answer all requests
	stop     context.CancelFunc // of sweeping, and of watching the files
	sweeping sync.WaitGroup
}

// New opens the volumes. The caller must close the server.
func New(o *Options) (*Server, error) {
	base, err := cleanBase(o.Base)
	if err != nil {
		return nil, err
	}
	s := &Server{site: newSite(o, base)}
	if len(o.TrustedProxies) == 0 { // the cache does not look at addresses that proxies name
		s.cached = newResponseCache(s.site)
	}
	names := make(map[string]bool)
	for _, source := range o.Sources {
		if names[source.Name] || source.Name == "-" {
			return nil, errors.Join(fmt.Errorf("two volumes would be served as /%s", source.Name), s.Close())
		}
		names[source.Name] = true
		source.ReadOnly = source.ReadOnly || !o.Write
		t, err := newTree(source, base, len(o.Sources) > 1, s.notices)
		if err == nil {
			s.trees = append(s.trees, t)
			t.tus, err = newTus(t, o.MaxBody)
		}
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.sweeping.Go(func() { s.sweepAll(ctx) })
	for _, t := range s.trees {
		if t.File != "" {
			s.sweeping.Go(func() { t.watch(ctx) })
		}
	}
	return s, nil
}

func newSite(o *Options, base string) *site {
	s := &site{
		options: *o, base: base, pages: page.New(), metrics: new(metrics), hosts: hostSet(o.Hosts),
		calls: newGate(0, oneAddress), archives: newGate(archivesAtOnce, archivesAtOnce/2), searches: newGate(searchesAtOnce, searchesAtOnce/2),
		buffers: newBuffers(), contents: newContentCache(),
	}
	if o.Users != nil {
		s.logins = newLogins(o.Users)
	}
	s.notices = noticesOf(o)
	s.who.Store(&authority{o.Users, o.Rights})
	s.nameStrangers()
	s.assets = http.StripPrefix(base+assetsPath, http.FileServerFS(page.Assets()))
	return s
}

// cleanBase returns a base with one slash at its start and none at its end.
func cleanBase(base string) (string, error) {
	base = strings.Trim(base, "/")
	if base == "" {
		return "", nil
	}
	if strings.ContainsAny(base, "?#%\\ ") || strings.Contains("/"+base+"/", "/../") || strings.Contains(base, "//") {
		return "", fmt.Errorf("the base %q is no plain path", base)
	}
	return "/" + base, nil
}

// Close closes the volumes, once no request uses them.
func (s *Server) Close() error {
	var all []error
	if s.stop != nil {
		s.stop()
		s.sweeping.Wait()
	}
	for _, t := range s.trees {
		all = append(all, t.close())
	}
	return errors.Join(all...)
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if client := cacheClientOf(r); client != nil {
		r.TLS = client.secure // package http knows TLS only if the connection is a *tls.Conn
	}
	c := newCall(s.site, w, r)
	defer c.end()
	err := errCrowded
	if from := s.countedBy(c.client); s.calls.enter(from) {
		defer s.calls.leave(from)
		err = (router{c}).serve()
	}
	if err != nil {
		c.fail(err)
	}
}
