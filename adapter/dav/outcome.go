package dav

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"golang.org/x/net/webdav"

	"github.com/foliofs/folio"
)

// An outcome is the answer to a request on its way to the client. Package webdav has few statuses:
// it says that a file was made when one got a new content, and that a method is not allowed when
// the volume is full. The file system keeps the error, and the outcome reports it.
type outcome struct {
	http.ResponseWriter
	replaced bool  // an upload gave a file a new content
	failed   error // the error of the volume, or of the client's connection
	mute     bool  // the answer has no more text
	status   int
	request  context.Context // of the request
}

// An outcomeKey is the key of the outcome in the context of a request.
type outcomeKey struct{}

// note keeps an error for the answer to a request, and returns it.
func note(ctx context.Context, err error) error {
	if o, ok := ctx.Value(outcomeKey{}).(*outcome); ok && statusOf(err) != 0 {
		o.failed = err
	}
	return err
}

// statuses maps errors that are not about the request to their statuses. The first that matches
// counts.
var statuses = []struct {
	err    error
	status int
}{
	{folio.ErrFull, http.StatusInsufficientStorage},
	{errListing, http.StatusInsufficientStorage},
	{folio.ErrReadOnly, http.StatusForbidden},
	{folio.ErrBusy, http.StatusServiceUnavailable},
	{folio.ErrUnreachable, http.StatusServiceUnavailable},
	{folio.ErrTooLarge, http.StatusRequestEntityTooLarge},
	{os.ErrDeadlineExceeded, http.StatusRequestTimeout},
	{io.ErrUnexpectedEOF, http.StatusBadRequest},
}

// statusOf returns the status of an error, or 0 if package webdav knows better.
func statusOf(err error) int {
	if refused, ok := errors.AsType[*Refusal](err); ok {
		return refused.Status
	}
	if errors.As(err, new(*http.MaxBytesError)) {
		return http.StatusRequestEntityTooLarge
	}
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return s.status
		}
	}
	return 0
}

// WriteHeader corrects the status that package webdav sends: 204 if the request replaced a file,
// and for an error the one that fits its cause. The body for the old status is then dropped.
func (o *outcome) WriteHeader(status int) {
	switch {
	case status == http.StatusCreated && o.replaced:
		status, o.mute = http.StatusNoContent, true
	case status >= http.StatusBadRequest && o.failed != nil:
		o.status, o.mute = statusOf(o.failed), true
		refusalOf(o.failed, o.status).send(o.ResponseWriter)
		return
	}
	if s, ok := o.request.Value(storingKey{}).(*storing); ok && status < http.StatusMultipleChoices && !s.mtime.IsZero() {
		o.Header().Set(MtimeHeader, "accepted")
	}
	o.status = status
	o.ResponseWriter.WriteHeader(status)
}

func (o *outcome) Write(p []byte) (int, error) {
	if o.mute {
		return len(p), nil
	}
	return o.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (o *outcome) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// upstream lets package webdav answer a request. It returns the status of the answer.
func (h *Handler) upstream(w http.ResponseWriter, r *http.Request) (status int) {
	o := &outcome{ResponseWriter: w, request: r.Context()}
	r = r.WithContext(context.WithValue(r.Context(), outcomeKey{}, o))
	if r.Header.Get("If") != "" {
		r.Header = r.Header.Clone()
		r.Header.Del("If") // it has been looked at
	}
	h.dav.ServeHTTP(o, r)
	return o.status
}

// granted is a webdav.LockSystem for requests that Confirm has looked at.
type granted struct{}

func (granted) Create(time.Time, webdav.LockDetails) (string, error) { return "", nil }

func (granted) Unlock(time.Time, string) error { return nil }

func (granted) Confirm(time.Time, string, string, ...webdav.Condition) (func(), error) {
	return func() {}, nil
}

func (granted) Refresh(time.Time, string, time.Duration) (webdav.LockDetails, error) {
	return webdav.LockDetails{}, webdav.ErrNoSuchLock
}

// replaces notes that an upload is for a file that there is.
func replaces(ctx context.Context) {
	if o, ok := ctx.Value(outcomeKey{}).(*outcome); ok {
		o.replaced = true
	}
}
