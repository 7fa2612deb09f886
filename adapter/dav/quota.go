package dav

import (
	"bytes"
	"context"
	"encoding/xml"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/webdav"
)

// A Quoter is a Scope that knows how much space is left, for the properties of RFC 4331.
type Quoter interface {
	// Quota returns how many bytes may still be written, and how many are used. ok reports whether
	// these are known, and whether the client may see them.
	Quota(ctx context.Context) (available, used int64, ok bool)
}

// The properties of RFC 4331. They are not in an answer that has all properties (section 2).
var (
	quotaAvailable = xml.Name{Space: "DAV:", Local: "quota-available-bytes"}
	quotaUsed      = xml.Name{Space: "DAV:", Local: "quota-used-bytes"}
)

// A quotaKey is the key of the properties about space in the context of a request that asks for
// them.
type quotaKey struct{}

// withQuota returns a request that knows how much space is free, if its body asks for that.
//
// The Finder does not learn it: since macOS 15.4 it waits for 90 seconds when it connects to a
// server that has these properties.
func withQuota(r *http.Request, body []byte) *http.Request {
	s, ok := scopeOf(r.Context()).(Quoter)
	if !ok || !bytes.Contains(body, []byte("quota-")) || strings.HasPrefix(r.UserAgent(), "WebDAVFS/") {
		return r
	}
	available, used, ok := s.Quota(r.Context())
	if !ok {
		return r
	}
	props := make(map[xml.Name]webdav.Property)
	for name, n := range map[xml.Name]int64{quotaAvailable: available, quotaUsed: used} {
		props[name] = webdav.Property{XMLName: name, InnerXML: strconv.AppendInt(nil, n, 10)}
	}
	return r.WithContext(context.WithValue(r.Context(), quotaKey{}, props))
}

// quotaOf returns the properties about space of a request.
func quotaOf(ctx context.Context) map[xml.Name]webdav.Property {
	props, _ := ctx.Value(quotaKey{}).(map[xml.Name]webdav.Property)
	return props
}
