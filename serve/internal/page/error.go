package page

import (
	"io"
	"net/http"
)

// An Error explains a failure in plain words.
type Error struct {
	Frame
	Status  int
	Message string // a sentence; if it is empty, the status has one
	// Near is the URL of the nearest folder that is there, and NearName its name, or "".
	Near, NearName string
}

// advice maps the statuses that people see to a sentence.
var advice = map[int]string{
	http.StatusBadRequest:            "The address has a part that this server does not understand.",
	http.StatusUnauthorized:          "Please log in to see this.",
	http.StatusForbidden:             "You may not see this, or not do this here.",
	http.StatusNotFound:              "There is nothing by this name. It may have been moved or removed.",
	http.StatusMethodNotAllowed:      "This cannot be done here.",
	http.StatusConflict:              "There is something by this name already.",
	http.StatusGone:                  "This link has expired.",
	http.StatusPreconditionFailed:    "This was changed in the meantime. Load the page again to see how it is now.",
	http.StatusRequestEntityTooLarge: "This is larger than this server takes.",
	http.StatusTooManyRequests:       "That was too much at once. Please wait a moment.",
	http.StatusInternalServerError:   "The server could not do this. Its log says why.",
	http.StatusServiceUnavailable:    "The server is busy. Please try again in a moment.",
	http.StatusInsufficientStorage:   "The volume is full.",
}

// Title returns the text of the browser's tab.
func (e *Error) Title() string { return e.Heading() }

// Heading returns the status in words, and not as a number.
func (e *Error) Heading() string {
	switch e.Status {
	case http.StatusNotFound:
		return "Not found"
	case http.StatusInternalServerError:
		return "Something went wrong"
	}
	if text := http.StatusText(e.Status); text != "" {
		return text
	}
	return "Something went wrong"
}

// Text returns the message, or the text of the status.
func (e *Error) Text() string {
	if e.Message != "" {
		return e.Message
	}
	if text := advice[e.Status]; text != "" {
		return text
	}
	return "The server could not do this."
}

// WriteError writes the page of an error.
func (p *Pages) WriteError(w io.Writer, e *Error) error { return p.write(w, "error.html", e) }
