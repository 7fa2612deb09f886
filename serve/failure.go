package serve

import (
	"errors"
	"io/fs"
	"net/http"
)

// A failure is an error with its answer. The message is for people, and tells nothing about the
// server that the client does not know.
type failure struct {
	status  int
	message string
	header  http.Header
	xml     string // for programs that speak WebDAV; "" is the message
}

func (f *failure) Error() string { return f.message }

func refuse(status int, message string) error { return &failure{status: status, message: message} }

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

var errMethod = &failure{
	status: http.StatusMethodNotAllowed, message: "This cannot be done here.",
	header: http.Header{"Allow": {"GET, HEAD, OPTIONS"}},
}
