package page

import (
	"io"
	"time"
)

// Trash is the page of removed files that a user can restore: BASE/-/trash.
type Trash struct {
	Frame
	List  []Removed     // the newest first
	Kept  time.Duration // how long files are kept
	Older string        // the URL of the next page, or ""

	Newest string // the ID of the first in the list
}

// Removed is a file that was removed, or are several that were removed at once.
type Removed struct {
	Paths   []string // where they were, behind the base: the first of them
	Count   int      // of all
	User    string   // who removed them, or ""
	Time    time.Time
	IsDir   bool
	Size    int64
	Restore string // the URL that restores them
}

// Name returns the name of the removed file, or of the first of several.
func (r *Removed) Name() string {
	f := Frame{Path: r.Paths[0]}
	return f.Name()
}

// Dir returns the path of the directory where it was.
func (r *Removed) Dir() string {
	f := Frame{Path: r.Paths[0]}
	return f.Dir()
}

// More returns how many were removed with the first one.
func (r *Removed) More() int { return r.Count - 1 }

// Days returns how many days files are kept.
func (t *Trash) Days() int { return int(t.Kept.Hours() / 24) }

// Title returns the text of the browser's tab.
func (t *Trash) Title() string { return "Trash – " + t.RootName }

// WriteTrash writes the page of the trash.
func (p *Pages) WriteTrash(w io.Writer, t *Trash) error { return p.write(w, "trash.html", t) }
