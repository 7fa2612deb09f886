package bucket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/store"
)

var (
	// ErrMissing says that there is no object of that name.
	ErrMissing = errors.New("the object is not there")
	// ErrUnreachable says that the server has not answered in time, or not as a server of S3 does.
	ErrUnreachable = errors.New("the bucket is out of reach")

	errExists = errors.New("the object is there")
	errShort  = errors.New("the answer is not as long as it should be")
	errNotS3  = errors.New("what answers is no server of S3: check the endpoint")
)

const (
	attempts   = 3 // of a request; each has the same part of the time
	firstDelay = 20 * time.Millisecond
)

// repeat calls fn until it succeeds, fails in a way that another attempt would not change, or has
// failed several times.
func (c *Client) repeat(ctx context.Context, fn func(ctx context.Context) error) error {
	var err error
	for i := range attempts {
		if i > 0 && !pause(ctx, firstDelay<<(3*(i-1))) {
			break
		}
		attempt, cancel := context.WithTimeout(ctx, c.timeout/(attempts+1))
		err = fn(attempt)
		cancel()
		if err == nil || ctx.Err() != nil || !passes(err) {
			break
		}
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return c.explain(err)
}

// pause waits for about a time. It returns false if ctx is done.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d/2 + rand.N(d))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// statusOf returns the status of an answer, 0 if there was none, and the code in it.
func statusOf(err error) (status int, code string) {
	if e, ok := errors.AsType[*answerError](err); ok {
		return e.status, e.code
	}
	return 0, ""
}

// passes reports whether a request that failed may succeed if it is made again.
func passes(err error) bool {
	status, code := statusOf(err)
	switch {
	case code == skewed: // the client knows the server's clock now
		return true
	case status == http.StatusConflict: // another request is under way
		return true
	case status == http.StatusInsufficientStorage:
		return false
	case status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= 500:
		return true
	}
	return status < 300 // the answer was cut, or there was none
}

// explain returns the meaning of an error, on one line.
func (c *Client) explain(err error) error {
	if err == nil {
		return nil
	}
	text, is := meaning(err)
	return &requestError{fmt.Sprintf("%s: %s", c.address, text), is, err}
}

// meaning returns the meaning of an error, and the error that it matches then, if any. The status
// 404 alone says nothing about an object: a proxy answers so, and versitygw does if it does not
// know the access key.
func meaning(err error) (text string, is error) {
	status, code := statusOf(err)
	switch {
	case code == "NoSuchBucket":
		return "there is no such bucket: make it first, or name another one", fs.ErrNotExist
	case code == "NoSuchKey":
		return ErrMissing.Error(), ErrMissing
	case status == http.StatusPreconditionFailed:
		return errExists.Error(), errExists
	case status == http.StatusInsufficientStorage || strings.Contains(code, "StorageFull") || strings.Contains(code, "QuotaExceeded"):
		return fmt.Sprintf("the bucket is full (%s)", oneLine(err)), store.ErrFull
	case status == http.StatusForbidden || status == http.StatusUnauthorized || code == "XAdminUserNotFound":
		return fmt.Sprintf("the server refuses the request (%s): check the credentials, and their rights on the bucket", code), fs.ErrPermission
	case errors.Is(err, errNoKeys):
		return strings.Join(strings.Fields(err.Error()), " "), fs.ErrPermission
	case status >= 300 && (status == http.StatusConflict || !passes(err)):
		return fmt.Sprintf("the server refuses the request (%s): check the endpoint, the region and the name of the bucket", oneLine(err)), nil
	}
	return fmt.Sprintf("%v: %s", ErrUnreachable, oneLine(err)), ErrUnreachable
}

// A requestError is an error of a request, in words of this package.
type requestError struct {
	text string
	is   error // what it means; or nil
	err  error
}

func (e *requestError) Error() string { return e.text }

func (e *requestError) Is(target error) bool { return e.is != nil && errors.Is(e.is, target) }

// oneLine returns what went wrong, without the account of how it came to that.
func oneLine(err error) string {
	if e, ok := errors.AsType[*answerError](err); ok {
		return strings.Join(strings.Fields(e.Error()), " ")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	last := err
	for e := err; e != nil; e = errors.Unwrap(e) {
		last = e
	}
	return strings.Join(strings.Fields(last.Error()), " ")
}
