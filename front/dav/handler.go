// Package dav serves a volume by WebDAV, the file system of HTTP, which the file managers of all systems open as a network drive:
//
//	http.ListenAndServe("localhost:8080", dav.NewHandler(vol, nil))
//
// The protocol is that of golang.org/x/net/webdav, on the volume as New returns it. What that gives its clients beyond what a directory would:
//
//   - A file that is uploaded takes the place of the old one as a whole, or not at all if the client goes away meanwhile. Whoever reads a file of up
//     to 1 MiB gets the one or the other.
//   - A file or directory is moved or copied as a whole or not at all, with what it replaces.
//   - Properties that clients set ("dead" properties in RFC 4918) are kept, in the extended attribute user.webdav.properties.
//
// Locks are in memory, exclusive and shared, and end with the process or after an hour in which nobody refreshes them. The dead properties of one
// file have at most 64 KiB, the XML of a request 1 MiB.
//
// There is no authentication: whoever reaches the handler may read and write the volume. Put it behind one, or on an address that nobody else reaches.
package dav

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/url"

	"golang.org/x/net/webdav"

	"github.com/foliofs/folio"
)

// Options say how a volume is served. The zero value, and nil, are good defaults.
type Options struct {
	// Prefix is what the paths of requests begin with, such as "/files".
	Prefix string
	// Logger, if not nil, is called after each request, with the error that made it fail.
	Logger func(*http.Request, error)
}

// NewHandler returns a handler that serves a volume. It is safe for concurrent use, as the volume is. Closing that is left to the
// caller.
func NewHandler(vol *folio.FS, o *Options) http.Handler {
	if o == nil {
		o = new(Options)
	}
	files := New(vol)
	h := &handler{vol: vol, prefix: o.Prefix, locks: newLocks(files.etag)}
	h.dav = webdav.Handler{Prefix: o.Prefix, FileSystem: files, LockSystem: h.locks, Logger: o.Logger}
	return h
}

type handler struct {
	vol    *folio.FS
	prefix string
	locks  *locks
	dav    webdav.Handler
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case "PROPFIND":
		if _, ok := h.readXML(w, r); ok {
			h.dav.ServeHTTP(w, r)
		}
	case "PROPPATCH":
		if _, ok := h.readXML(w, r); ok {
			h.transact(w, r)
		}
	case "LOCK":
		if body, ok := h.readXML(w, r); ok {
			h.lock(w, r, body)
		}
	case "MOVE", "COPY":
		if nested(r) {
			h.refuse(w, r, http.StatusForbidden, errNested)
			return
		}
		h.transact(w, r)
	default:
		h.dav.ServeHTTP(w, r)
	}
}

// maxXML is how long the body of a request may be that is XML.
const maxXML = 1 << 20

// readXML returns the body of a request, which can be read once more, unless package webdav would take it though it should not: that is
// answered here.
func (h *handler) readXML(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxXML))
	status := http.StatusBadRequest
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		status = http.StatusRequestEntityTooLarge
	case err == nil && hasEmptyNamespace(body):
		err = errEmptyNamespace
	}
	if err != nil {
		h.refuse(w, r, status, err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, err == nil
}

var errEmptyNamespace = errors.New("a prefix is declared with an empty namespace")

// hasEmptyNamespace reports whether XML has a declaration like xmlns:a="", which "Namespaces in XML" forbids and package encoding/xml
// accepts. What is no XML at all is left to package webdav.
func hasEmptyNamespace(text []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.RawToken()
		if err != nil {
			return false
		}
		start, _ := token.(xml.StartElement)
		for _, a := range start.Attr {
			if a.Name.Space == "xmlns" && a.Value == "" {
				return true
			}
		}
	}
}

// refuse answers a request that failed.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
	http.Error(w, err.Error(), status)
	h.log(r, err)
}

func (h *handler) log(r *http.Request, err error) {
	if h.dav.Logger != nil {
		h.dav.Logger(r, err)
	}
}

var (
	errRefused = errors.New("refused") // a transaction must not be committed
	errNested  = errors.New("a directory cannot be copied or moved into itself, nor take the place of what it lies in")
)

// transact lets package webdav answer a request in a transaction, which is committed if that succeeds: it looks before it changes something, and
// removes what it replaces before it knows whether there is something to replace it with.
func (h *handler) transact(w http.ResponseWriter, r *http.Request) {
	answer := answer{header: make(http.Header)}
	err := h.vol.Update(r.Context(), func(tx *folio.Tx) error {
		h.dav.ServeHTTP(&answer, r.WithContext(context.WithValue(r.Context(), txKey{}, tx)))
		if answer.status >= http.StatusMultipleChoices {
			return errRefused
		}
		return nil
	})
	switch {
	case err == nil || errors.Is(err, errRefused):
		answer.send(w)
	case errors.Is(err, folio.ErrFull):
		h.refuse(w, r, http.StatusInsufficientStorage, err)
	default:
		h.refuse(w, r, http.StatusInternalServerError, err)
	}
}

// nested reports whether what a request moves or copies would come to lie in itself, or where it lies.
func nested(r *http.Request) bool {
	destination, err := url.Parse(r.Header.Get("Destination"))
	if err != nil {
		return false // package webdav says so
	}
	from, to := clean(r.URL.Path), clean(destination.Path)
	return below(from, to) || below(to, from) && r.Header.Get("Depth") != "0"
}

// An answer is kept until it is true.
type answer struct {
	header http.Header
	status int // 0 means 200
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }

// send sends the answer. There is nobody to tell that it did not arrive.
func (a *answer) send(w http.ResponseWriter) {
	for key, values := range a.header {
		w.Header()[key] = values
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	_, _ = a.body.WriteTo(w)
}
