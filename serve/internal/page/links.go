package page

import (
	"io"
	"time"
)

// Links is the page of the links to share that a user may end: BASE/-/links.
type Links struct {
	Frame
	List []Link // the newest first
}

// A Link is a link to share. Its address is not known to the server.
type Link struct {
	Path     string // behind the base; "" is the root
	Href     string // the URL of its target, or "" if the target does not exist
	End      string // the URL that ends it
	State    string // "open", "expired", "gone", or "denied" if its maker has no right any more
	Upload   bool
	User     string // who made it, or ""
	Snapshot string
	Made     time.Time
	Expires  time.Time
	MaxSize  int64 // bytes that may be uploaded in all, or 0
	Used     int64
}

// Title returns the text of the browser's tab.
func (l *Links) Title() string { return "Links – " + l.RootName }

// WriteLinks writes the page of links.
func (p *Pages) WriteLinks(w io.Writer, l *Links) error { return p.write(w, "links.html", l) }
