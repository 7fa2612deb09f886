package serve

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// guard refuses requests that no honest client sends. It also sets the path behind the base.
func (c *call) guard() error {
	if err := c.s.checkHost(c.r.Host); err != nil {
		return err
	}
	if c.r.Method == http.MethodOptions && c.r.URL.Path == "*" {
		return errMethod
	}
	if err := checkTarget(c.r.URL); err != nil {
		return err
	}
	if c.r.Method == http.MethodConnect || c.r.Method == http.MethodTrace {
		return errMethod
	}
	rest, ok := strings.CutPrefix(c.r.URL.Path, c.s.base)
	switch {
	case !ok || rest != "" && rest[0] != '/':
		return refuse(http.StatusNotFound, "There is no such file.")
	case rest == "":
		rest = "/"
		if c.s.base != "" {
			c.path = rest
			return &failure{status: http.StatusMovedPermanently, message: "The address ends in a slash.", header: http.Header{"Location": {c.s.base + "/"}}}
		}
	}
	c.path = rest
	if err := errors.Join(c.checkLength(), c.checkCoding()); err != nil {
		return err
	}
	return c.checkOrigin()
}

var errLengthless = refuse(http.StatusLengthRequired, "A request of HTTP/1.0 that changes something must say the length of its body.")

// checkLength refuses a change by HTTP/1.0 whose body has no length. Package http takes it for one
// without a body, also if its Transfer-Encoding says that there is one.
func (c *call) checkLength() error {
	if c.r.ProtoAtLeast(1, 1) || c.r.Header.Get("Content-Length") != "" {
		return nil
	}
	switch c.r.Method {
	case http.MethodPut, http.MethodPost, http.MethodPatch:
		return errLengthless
	}
	return nil
}

// checkCoding refuses a body that is compressed. The server does not unpack it, and must not take
// it for the content of a file either (RFC 9110, section 15.5.16).
func (c *call) checkCoding() error {
	if coding := c.r.Header.Get("Content-Encoding"); coding == "" || strings.EqualFold(coding, "identity") {
		return nil
	}
	return &failure{
		status: http.StatusUnsupportedMediaType, message: "Contents are taken as they are, without a Content-Encoding.",
		header: http.Header{"Accept-Encoding": {"identity"}},
	}
}

var errHost = refuse(http.StatusMisdirectedRequest, "This server does not answer to that name. Its owner can allow it by --host.")

// checkHost refuses names that lead here without the owner's knowledge. A page of another site can
// let its own name lead to an address in the reader's network, and read answers then (DNS
// rebinding).
func (s *site) checkHost(hostport string) error {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if s.hosts[host] || s.hosts["*"] || net.ParseIP(host) != nil {
		return nil
	}
	return errHost
}

// hostSet returns the names that a server answers to, besides addresses.
func hostSet(names []string) map[string]bool {
	set := map[string]bool{"localhost": true}
	if name, err := os.Hostname(); err == nil {
		set[strings.ToLower(name)] = true
	}
	for _, name := range names {
		set[strings.ToLower(strings.TrimSuffix(name, "."))] = true
	}
	return set
}

var errOrigin = refuse(http.StatusForbidden, "A page of another site must not change files here.")

// checkOrigin refuses changes that a page of another site sends in the name of the user. Programs
// other than browsers send neither header.
func (c *call) checkOrigin() error {
	switch c.r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, "PROPFIND":
		return nil
	}
	if site := c.r.Header.Get("Sec-Fetch-Site"); site != "" {
		if site == "same-origin" || site == "none" {
			return nil
		}
		return errOrigin
	}
	origin := c.r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	if u, err := url.Parse(origin); err == nil && u.Host != "" && strings.EqualFold(u.Host, c.r.Host) {
		return nil
	}
	return errOrigin
}

var errNotLocal = errors.New("not a path on this server")

// parseLocal reads a path on this server, perhaps with a query.
func parseLocal(to string) (*url.URL, error) {
	u, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	plain := u.Scheme == "" && u.Host == "" && u.User == nil && strings.HasPrefix(to, "/")
	if !plain || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
		return nil, errNotLocal
	}
	return u, checkTarget(u)
}
