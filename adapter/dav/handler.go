// Package dav serves a volume by WebDAV, the file system of HTTP, which the file managers of all
// systems open as a network drive:
//
//	http.ListenAndServe("localhost:8080", dav.NewHandler(vol, nil))
//
// The protocol is the one of golang.org/x/net/webdav, on the volume that was given to New. Clients
// get more than from a directory:
//
//   - An upload replaces the old file as a whole, or not at all if the client goes away meanwhile.
//     A reader of a file of up to 1 MiB gets the old content or the new one.
//   - A file or directory is moved or copied as a whole or not at all, together with the removal of
//     a file that it replaces.
//   - Properties that clients set ("dead" properties in RFC 4918) are kept, in the extended
//     attribute user.webdav.properties.
//
// Locks are in memory, exclusive and shared, and end with the process or after an hour without a
// refresh. A lock belongs to the user who made it, see WithUser. It holds for the file that its URL
// leads to, by whatever symbolic link a request comes. A program that changes the volume by other
// means than the Handler asks Confirm in the transaction. The dead properties of one file have at
// most 64 KiB.
//
// Each request has limits, so that a client cannot make the server run out of memory or time;
// docs/howto/adapters.md has a table. Among other limits, PROPFIND may ask for the depth 0 or 1
// only, and a directory that is listed or copied has at most 100,000 entries.
//
// There is no authentication: every client that reaches the handler may read and write the volume.
// Put it behind a handler that authenticates and calls WithUser, or on an address that no other
// client reaches.
package dav

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"golang.org/x/net/webdav"

	"github.com/foliofs/folio"
)

// Options say how a volume is served. The zero value, and nil, are good defaults.
type Options struct {
	// Prefix is the start of the paths of requests, for example "/files".
	Prefix string
	// Dir is the directory of the volume that is served; "" means all of it. Symbolic links may
	// lead out of it, unless the requests have a Scope.
	Dir string
	// Logger, if not nil, is called after each request, with the error if it failed.
	Logger func(*http.Request, error)
}

// NewHandler returns a handler that serves a volume. It is safe for concurrent use, as the volume
// is. The caller must close the volume, after the last request.
func NewHandler(vol *folio.Volume, o *Options) *Handler {
	if o == nil {
		o = new(Options)
	}
	files := &FileSystem{vol: vol, dir: o.Dir}
	h := &Handler{vol: vol, files: files, prefix: o.Prefix, locks: newLocks()}
	files.handler = h
	h.dav = webdav.Handler{Prefix: o.Prefix, FileSystem: files, LockSystem: granted{}, Logger: o.Logger}
	return h
}

// A Handler serves a volume by WebDAV. It is safe for concurrent use.
type Handler struct {
	vol    *folio.Volume
	files  *FileSystem
	prefix string
	locks  *locks
	dav    webdav.Handler
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.accept(w, r, checkPath(r)) {
		return
	}
	switch r.Method {
	case "PROPFIND":
		h.propfind(w, r)
	case "PROPPATCH":
		if body, ok := h.readXML(w, r, maxElements); ok {
			r.Body = io.NopCloser(bytes.NewReader(renameModified(body)))
			h.transact(w, r)
		}
	case "LOCK":
		if body, ok := h.readXML(w, r, maxElements); ok {
			h.lock(w, r, body)
		}
	case "UNLOCK":
		h.unlock(w, r)
	case "MOVE", "COPY":
		if h.accept(w, r, h.checkDestination(r)) {
			h.transact(w, r)
		}
	case "DELETE", "MKCOL":
		h.transact(w, r)
	case "PUT":
		h.put(w, r)
	default:
		h.upstream(w, r)
	}
}

// put answers PUT. Whether the file may be changed is asked before its content is read, and again
// in the transaction that stores it.
func (h *Handler) put(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Content-Range") != "" { // RFC 9110, section 14.5
		h.refuse(w, r, http.StatusBadRequest, errRange)
		return
	}
	confirm := func(in Lookuper) error {
		_, err := h.allow(in, r)
		return err
	}
	at, err := Mtime(r)
	if err == nil {
		err = confirm(h.vol)
	}
	if !h.accept(w, r, err) {
		return
	}
	CheckBody(r)
	h.upstream(w, r.WithContext(context.WithValue(r.Context(), storingKey{}, &storing{confirm, at})))
}

// A storing is the last step of an upload's transaction: it calls confirm, and sets the time of
// modification, unless that is zero.
type storing struct {
	confirm func(in Lookuper) error
	mtime   time.Time
}

// A storingKey is the key of a storing in the context of a request.
type storingKey struct{}

// accept reports whether err is nil. If it is not, accept answers the request.
func (h *Handler) accept(w http.ResponseWriter, r *http.Request, err error) bool {
	if err == nil {
		return true
	}
	h.refuse(w, r, http.StatusBadRequest, err)
	return false
}

// readXML returns the body of a request, which can be read once more. It refuses a body of more
// than so many elements, and a body that package webdav would accept by mistake.
func (h *Handler) readXML(w http.ResponseWriter, r *http.Request, most int) (body []byte, ok bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxXML))
	if errors.As(err, new(*http.MaxBytesError)) {
		err = refuse(err, http.StatusRequestEntityTooLarge)
	}
	if err == nil {
		body, err = inUTF8(body)
	}
	if err == nil {
		err = checkXML(bytes.NewReader(body), most)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, h.accept(w, r, err)
}

var errEmptyNamespace = errors.New("a prefix is declared with an empty namespace")

// refuse answers a request that failed, with the given status unless the error names one.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
	refusalOf(err, status).send(w)
	h.log(r, err)
}

func (h *Handler) log(r *http.Request, err error) {
	if h.dav.Logger != nil {
		h.dav.Logger(r, err)
	}
}

var (
	errRefused = errors.New("refused") // a transaction must not be committed
	errNested  = errors.New("a directory cannot be copied or moved into itself, nor take the place of what it lies in")
)

// transact lets package webdav answer a request in a transaction, which is committed if that
// succeeds. Package webdav looks before it changes something, and removes the file to be replaced
// before it knows whether the new one exists.
func (h *Handler) transact(w http.ResponseWriter, r *http.Request) {
	answer := answer{header: make(http.Header)}
	var ended []func()
	err := h.vol.Update(r.Context(), func(tx *folio.Tx) error {
		changes, err := h.allow(tx, r)
		if err != nil {
			return err
		}
		req := &transaction{tx: tx}
		h.upstream(&answer, r.WithContext(context.WithValue(r.Context(), txKey{}, req)))
		if req.failed != nil {
			return req.failed
		}
		if answer.status >= http.StatusMultipleChoices {
			return errRefused
		}
		ended = append(ended, h.ended(r.Method, changes)...)
		return nil
	})
	if err != nil {
		for _, undo := range ended {
			undo()
		}
	}
	switch {
	case err == nil || errors.Is(err, errRefused):
		answer.send(w)
	default:
		h.refuse(w, r, cmp.Or(statusOf(err), http.StatusInternalServerError), err)
	}
}

// ended ends the locks on files that changes have removed or moved away.
func (h *Handler) ended(method string, changes []Change) (undo []func()) {
	for i, change := range changes {
		if change.Placed {
			undo = append(undo, h.Removed(change.Path, method == "DELETE" || method == "MOVE" && i == 0))
		}
	}
	return undo
}

// nested reports whether a request would move or copy a file into itself, or onto itself. alone
// says that its entries are not copied.
func nested(from, to string, alone bool) bool {
	from, to = clean(from), clean(to)
	return below(from, to) || below(to, from) && !alone
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

// send sends the answer. It ignores errors, because no client is left to be told.
func (a *answer) send(w http.ResponseWriter) {
	for key, values := range a.header {
		w.Header()[key] = values
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	_, _ = w.Write(restoreModified(a.body.Bytes()))
}
