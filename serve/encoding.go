package serve

import "strings"

// negotiate returns the content as it is, or compressed if the client takes that and it pays.
func (g *get) negotiate(contentType string) []byte {
	if len(g.data) < minCompress || !compressible(contentType) {
		return g.data
	}
	h := g.w.Header()
	h.Add("Vary", "Accept-Encoding")
	if g.r.Header.Get("Range") != "" || !acceptsGzip(g.r.Header.Get("Accept-Encoding")) {
		return g.data
	}
	z := g.s.contents.compressed(g.p.key(g.info), g.data)
	if z == nil {
		return g.data
	}
	h.Set("Content-Encoding", "gzip")
	h.Set("ETag", strings.TrimSuffix(g.p.etag(g.info), `"`)+`-gzip"`)
	return z
}

// acceptsGzip reports whether an Accept-Encoding header has gzip, and not with a weight of 0.
func acceptsGzip(header string) bool {
	for one := range strings.SplitSeq(header, ",") {
		name, weight, _ := strings.Cut(one, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q := strings.TrimPrefix(strings.TrimSpace(weight), "q=")
			return strings.Trim(q, "0.") != "" || q == ""
		}
	}
	return false
}
