package serve

import (
	"net/http"
	"strings"

	"github.com/foliofs/folio/serve/internal/page"
)

// contentPolicy holds the content of files in a sandbox of its own: no scripts, no forms, no
// request to another site, and none of the rights of this site.
const contentPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'; frame-ancestors 'self'"

// mediaPolicy is for sounds and films. A browser makes a page around one that is opened by itself,
// and that page loads the file again: in a sandbox without an origin it would be of another site.
const mediaPolicy = "sandbox allow-same-origin; default-src 'none'; style-src 'unsafe-inline'; media-src 'self'; frame-ancestors 'self'"

// pdfPolicy is for PDF: the viewers of browsers do not work in a sandbox, and run no script of the
// file in the name of this site.
const pdfPolicy = "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'; frame-ancestors 'self'"

// protect sets the headers of all answers. Handlers relax them if they need to.
func (c *call) protect() {
	h := c.w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("X-Frame-Options", "SAMEORIGIN")
	if c.r.TLS != nil {
		h.Set("Strict-Transport-Security", hsts)
	}
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), interest-cohort=()")
}

// startPage begins a page of this server.
func (c *call) startPage(status int) {
	h := c.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", page.Policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // without a referrer, forms say that they come from nowhere
	h.Add("Vary", "Accept")
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", c.cacheControl())
	}
	c.w.WriteHeader(status)
}

// cacheControl lets clients keep an answer, but ask each time whether it still holds. Shared caches
// must not keep answers for users.
func (c *call) cacheControl() string {
	if c.who.users != nil {
		return "private, no-cache"
	}
	return "no-cache"
}

// protectContent sets the headers of the content of a file.
func (c *call) protectContent(contentType string) error {
	switch c.r.Header.Get("Sec-Fetch-Dest") {
	case "", "document", "iframe", "frame", "image", "audio", "video", "track", "object", "embed", "empty":
	default:
		return refuse(http.StatusForbidden, "Files are not run: neither as scripts nor as styles.")
	}
	c.w.Header().Set("Content-Security-Policy", policyFor(contentType))
	return nil
}

func policyFor(contentType string) string {
	switch kind, _, _ := strings.Cut(contentType, "/"); {
	case kind == "audio" || kind == "video":
		return mediaPolicy
	case strings.HasPrefix(contentType, "application/pdf"):
		return pdfPolicy
	}
	return contentPolicy
}
