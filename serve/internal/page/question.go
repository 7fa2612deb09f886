package page

import (
	"io"
	"net/url"
)

// A Question is the page that asks before something is done that cannot be undone, where no script
// asks.
type Question struct {
	Frame
	Heading, Text string
	Items         []string   // what it is about
	Action        string     // the URL of the form
	Fields        url.Values // of the form, besides the one that says that the reader is sure
	Button        string
	Back          string // the URL of the page that the reader comes from
}

// maxAsked is how many items a question names.
const maxAsked = 20

// Named returns the first items.
func (q *Question) Named() []string { return q.Items[:min(len(q.Items), maxAsked)] }

// More returns how many items there are besides.
func (q *Question) More() int { return len(q.Items) - len(q.Named()) }

// Title returns the text of the browser's tab.
func (q *Question) Title() string { return q.Heading }

// WriteQuestion writes the page of a question.
func (p *Pages) WriteQuestion(w io.Writer, q *Question) error { return p.write(w, "question.html", q) }
