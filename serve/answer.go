package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/dav"
	"github.com/foliofs/folio/serve/internal/page"
)

// answers lists the answers to errors of a volume. The first match counts.
var answers = []struct {
	err     error
	status  int
	message string
}{
	{errClosed, http.StatusServiceUnavailable, "The server is about to end."},
	{errReplaced, http.StatusServiceUnavailable, "The volume was replaced, and cannot be opened yet. The log of the server says why."},
	{errChanged, http.StatusServiceUnavailable, "The file changes all the time. Try again."},
	{folio.ErrUnreachable, http.StatusServiceUnavailable, "The server of the volume cannot be reached. If this was a change, look whether it has happened, and try again."},
	{folio.ErrNoSnapshot, http.StatusNotFound, "There is no such snapshot."},
	{folio.ErrFull, http.StatusInsufficientStorage, "The volume is full."},
	{folio.ErrReadOnly, http.StatusForbidden, "The volume can only be read."},
	{folio.ErrBusy, http.StatusServiceUnavailable, "Another program keeps the volume locked. Try again."},
	{folio.ErrDamaged, http.StatusInternalServerError, "The volume is damaged. Its owner should run folio check."},
	{folio.ErrTooLarge, http.StatusRequestEntityTooLarge, "The file is too large for a volume."},
	{folio.ErrNotEmpty, http.StatusConflict, "The directory is not empty."},
	{folio.ErrIsDirectory, http.StatusConflict, "There is a directory with this name."},
	{folio.ErrNotRegular, http.StatusForbidden, "This is a device, a fifo or a socket. It has no content."},
	{fs.ErrNotExist, http.StatusNotFound, "There is no such file."},
	{folio.ErrNotDirectory, http.StatusNotFound, "There is no such file."},
	{folio.ErrNameTooLong, http.StatusNotFound, "There is no such file."},
	{folio.ErrEscapes, http.StatusNotFound, "There is no such file."},
	{folio.ErrTooManyLinks, http.StatusNotFound, "There is no such file."},
	{fs.ErrInvalid, http.StatusBadRequest, "No file can have this name."},
	{fs.ErrExist, http.StatusConflict, "There is a file with this name."},
	{os.ErrDeadlineExceeded, http.StatusRequestTimeout, "The request took too long."},
	{io.ErrUnexpectedEOF, http.StatusBadRequest, "The request ended too early."},
	{errBrokenBody, http.StatusBadRequest, "The body of the request cannot be read."},
}

// failureOf returns the answer to an error.
func (c *call) failureOf(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if refused, ok := errors.AsType[*dav.Refusal](err); ok {
		return refusedByDav(refused)
	}
	if errors.Is(err, errDenied) {
		return c.denied()
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		_ = tooLarge
		return &failure{status: http.StatusRequestEntityTooLarge, message: "The request is too large."}
	}
	for _, a := range answers {
		if errors.Is(err, a.err) {
			f := &failure{status: a.status, message: a.message}
			if f.status == http.StatusServiceUnavailable {
				f.header = retryAfter
			}
			return f
		}
	}
	return &failure{status: http.StatusInternalServerError, message: "Something went wrong in the server."}
}

// denied asks a client to log in, if that can help.
func (c *call) denied() *failure {
	if c.user == "" && c.who.users != nil && !strings.HasPrefix(c.path, sharePath) {
		return &failure{status: http.StatusUnauthorized, message: "You must log in to do this."}
	}
	return &failure{status: http.StatusForbidden, message: "You have no right to do this."}
}

// fail answers a request that failed. If the answer has begun, it breaks the connection off, so
// that the client does not take a part for the whole.
func (c *call) fail(err error) {
	c.err = err
	if c.tree != nil {
		c.tree.lose(err)
	}
	if c.w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	if errors.Is(err, context.Canceled) && c.r.Context().Err() != nil {
		c.w.status = statusGone
		panic(http.ErrAbortHandler)
	}
	f := c.failureOf(err)
	h := c.w.Header()
	for _, name := range []string{"Content-Length", "Content-Encoding", "Content-Range", "Content-Disposition", "ETag", "Last-Modified"} {
		h.Del(name)
	}
	for name, values := range f.header {
		h[name] = values
	}
	if f.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Basic realm="folio", charset="UTF-8"`)
	}
	h.Set("Cache-Control", "no-store")
	c.writeFailure(f)
}

// statusGone is the status in the log if the client went away, as nginx writes it.
const statusGone = 499

// writeFailure answers with an error in the form that the client reads: JSON for programs that
// accept it, a page for browsers, and a line of text for all others, for example curl. WebDAV's
// conditions come as XML in place of that line.
func (c *call) writeFailure(f *failure) {
	if c.wantsJSON() {
		c.w.Header().Set("Content-Type", "application/json")
		c.w.WriteHeader(f.status)
		_ = json.NewEncoder(c.w).Encode(map[string]string{"error": f.message})
		return
	}
	if !strings.Contains(c.r.Header.Get("Accept"), "text/html") {
		text := f.message + "\n"
		c.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if f.xml != "" {
			text = f.xml
			c.w.Header().Set("Content-Type", "application/xml; charset=utf-8")
		}
		c.w.WriteHeader(f.status)
		_, _ = io.WriteString(c.w, text)
		return
	}
	e := &page.Error{Frame: c.frame(&place{root: c.s.base, name: "."}), Status: f.status, Message: f.message}
	if f.status == http.StatusNotFound {
		e.Near, e.NearName = c.nearest()
	}
	c.startPage(f.status)
	_ = c.s.pages.WriteError(c.w, e)
}

func (c *call) wantsJSON() bool {
	accept := c.r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// refusedByDav is the answer if locks or an If header refuse a request.
func refusedByDav(r *dav.Refusal) *failure {
	f := &failure{status: r.Status, message: "The request cannot be read.", xml: r.Body()}
	switch r.Status {
	case http.StatusLocked:
		f.message = "Another client has locked this."
	case http.StatusPreconditionFailed:
		f.message = errCondition.Error()
	}
	return f
}
