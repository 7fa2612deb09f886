package serve

// negotiate returns the content as it is, or compressed if the client takes that and it pays.
func (g *get) negotiate(contentType string) []byte {
	if len(g.data) < minCompress || len(g.data) > smallFile || !compressible(contentType) {
		return g.data
	}
	h := g.w.Header()
	h.Add("Vary", "Accept-Encoding")
	coding := acceptedCoding(g.r.Header.Get("Accept-Encoding"))
	if g.r.Header.Get("Range") != "" || coding == "" {
		return g.data
	}
	z := g.s.contents.compressed(g.p.key(g.info), coding, g.data)
	if z == nil {
		return g.data
	}
	h.Set("Content-Encoding", coding)
	h.Set("ETag", codedTag(g.p.etag(g.info), coding))
	return z
}
